// Formats of 256 elements. Part of gemm_codes_neon_dotprod.cc, inside its target attributes.
//
// The four lanes of a group's dot product are multiplied by its integer scale as they are, and a whole block stays in
// integers (below 2^24 a lane) until it becomes floats once.

// Sixteen codes by their place in CodedOrder, as the bytes store them: without a format's offset.
HWY_INLINE uint8x16_t nibbles_at(const std::uint8_t (&low)[128], int place) {
  const uint8x16_t packed = vld1q_u8(low + 64 * (place / 8) + 16 * (place % 4));
  return place % 8 < 4 ? vandq_u8(packed, vdupq_n_u8(15)) : vshrq_n_u8(packed, 4);
}
template <int shift>
HWY_INLINE uint8x16_t shifted_right(uint8x16_t bytes) {
  if constexpr (shift > 0) return vshrq_n_u8(bytes, shift);
  if constexpr (shift < 0) return vshlq_n_u8(bytes, -shift);
  return bytes;
}
template <int place>
HWY_INLINE uint8x16_t two_bits_at(const std::uint8_t (&low)[64]) {
  const uint8x16_t bits = shifted_right<place / 4 * 2>(vld1q_u8(low + 16 * (place % 4)));
  return place / 4 == 3 ? bits : vandq_u8(bits, vdupq_n_u8(3));
}
// The bits of `mask` from `bytes` shifted right.
template <int shift>
HWY_INLINE uint8x16_t with_high(uint8x16_t codes, const std::uint8_t* bytes, int mask) {
  return vbslq_u8(vdupq_n_u8(static_cast<std::uint8_t>(mask)), shifted_right<shift>(vld1q_u8(bytes)), codes);
}

template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ4_K& block) {
  return nibbles_at(block.low, place);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ5_K& block) {
  constexpr int group = CodedOrder<BlockQ5_K>::units[place] / 2;
  return with_high<group - 4>(nibbles_at(block.low, place), block.high + 16 * (place % 2), 16);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ2_K& block) {
  return two_bits_at<place>(block.low);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ3_K& block) {
  constexpr int bit = CodedOrder<BlockQ3_K>::units[place] / 2;
  return with_high<bit - 2>(two_bits_at<place>(block.low), block.high + 16 * (place % 2), 4);
}
template <int place>
HWY_INLINE uint8x16_t codes_at(const BlockQ6_K& block) {
  constexpr int shift = place % 8 / 2 * 2;
  return with_high<shift - 4>(nibbles_at(block.low, place), block.high + 32 * (place / 8) + 16 * (place % 2), 0x30);
}

// Integer scales and minimums of the groups, a word each.
struct GroupWords {
  int16x8_t scales[2];
  int16x8_t minimums[2];
};
HWY_INLINE int16x8_t words_of(std::uint32_t lower, std::uint32_t upper) {
  return vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(lower | std::uint64_t{upper} << 32)));
}
HWY_INLINE GroupWords load_pairs(const std::uint8_t (&packed)[12]) {
  const SixBitPairs pairs = six_bit_pairs(packed);
  const int16x8_t zero = vdupq_n_s16(0);
  return {{words_of(pairs.scales[0], pairs.scales[1]), zero}, {words_of(pairs.minimums[0], pairs.minimums[1]), zero}};
}
HWY_INLINE GroupWords load_groups(const BlockQ4_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupWords load_groups(const BlockQ5_K& block) { return load_pairs(block.scales); }
HWY_INLINE GroupWords load_groups(const BlockQ2_K& block) {
  const uint8x16_t both = vld1q_u8(block.scales);
  const int8x16_t scales = vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15)));
  const int8x16_t minimums = vreinterpretq_s8_u8(vshrq_n_u8(both, 4));
  return {{vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)},
          {vmovl_s8(vget_low_s8(minimums)), vmovl_high_s8(minimums)}};
}
HWY_INLINE GroupWords load_groups(const BlockQ3_K& block) {
  const SixBitScales words = six_bit_scales(block.scales);
  const int16x8_t too_large = vdupq_n_s16(32);
  return {{vsubq_s16(words_of(words.scales[0], words.scales[1]), too_large),
           vsubq_s16(words_of(words.scales[2], words.scales[3]), too_large)},
          {}};
}
HWY_INLINE GroupWords load_groups(const BlockQ6_K& block) {
  const int8x16_t scales = vld1q_s8(block.scales);
  return {{vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)}, {}};
}

// sum_g words[g] sums[g] over all groups, spread over four lanes.
template <class Block>
HWY_INLINE int32x4_t multiply_groups(const int16x8_t (&words)[2], const std::int16_t (&sums)[16]) {
  const int16x8_t first = vld1q_s16(sums);
  int32x4_t total = vmull_s16(vget_low_s16(words[0]), vget_low_s16(first));
  total = vmlal_high_s16(total, words[0], first);
  if constexpr (Block::group == 16) {
    const int16x8_t second = vld1q_s16(sums + 8);
    total = vmlal_s16(total, vget_low_s16(words[1]), vget_low_s16(second));
    total = vmlal_high_s16(total, words[1], second);
  }
  return total;
}

HWY_INLINE float half_value(const StoredHalf& half) {
  __fp16 value;
  std::memcpy(&value, half.bytes, sizeof(value));
  return static_cast<float>(value);
}

template <class Block, int rows>
HWY_INLINE void add_block(const Block& block, const CodedSpan256* x, std::int64_t blocks, float32x4_t (&sums)[rows]) {
  constexpr int groups = 256 / Block::group;
  constexpr int units = Block::group / 16;  // of a group, neighbours in every order
  const GroupWords words = load_groups(block);
  int32x4_t scales[groups / 4];
  unrolled<groups / 8>(INGOT_UNROLLED(i) {
    scales[2 * i] = vmovl_s16(vget_low_s16(words.scales[i]));
    scales[2 * i + 1] = vmovl_high_s16(words.scales[i]);
  });
  int32x4_t totals[rows];
  unrolled<rows>(INGOT_UNROLLED(row) {
    totals[row] = vdupq_n_s32(0);
    if constexpr (code_offset<Block> != 0) {
      const int32x4_t sum = multiply_groups<Block>(words.scales, x[row * blocks].sums);
      totals[row] = vmulq_n_s32(sum, -code_offset<Block>);
    }
  });
  unrolled<groups>(INGOT_UNROLLED(g) {
    constexpr int first = g * units;
    constexpr int group = CodedOrder<Block>::units[first] / units;
    int8x16_t codes[units];
    unrolled<units>(INGOT_UNROLLED(u) { codes[u] = vreinterpretq_s8_u8(codes_at<first + u>(block)); });
    unrolled<rows>(INGOT_UNROLLED(row) {
      const std::int8_t* from = x[row * blocks].codes[0] + 16 * first;
      int32x4_t dot = zero_for(vld1q_s8(from));
      unrolled<units>(INGOT_UNROLLED(u) { dot = vdotq_s32(dot, codes[u], vld1q_s8(from + 16 * u)); });
      totals[row] = vmlaq_laneq_s32(totals[row], dot, scales[group / 4], group % 4);
    });
  });
  const float scale = half_value(block.scale);
  unrolled<rows>(INGOT_UNROLLED(row) {
    const CodedSpan256& in = x[row * blocks];
    // Not the product of both scales first: it may lie below the normal range where the sum does not.
    sums[row] = vfmaq_n_f32(sums[row], vmulq_n_f32(vcvtq_f32_s32(totals[row]), in.scale), scale);
    if constexpr (requires { block.minimum; }) {
      const int32x4_t products = multiply_groups<Block>(words.minimums, in.sums);
      const float32x4_t x_minimums = vmulq_n_f32(vcvtq_f32_s32(products), in.scale);
      sums[row] = vfmsq_n_f32(sums[row], x_minimums, half_value(block.minimum));
    }
  });
}

template <class Block, int rows>
void multiply_columns_256(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 256;
  const auto* x = reinterpret_cast<const CodedSpan256*>(coded);
  for (std::int64_t column = begin; column < end; ++column) {
    const auto* weights = reinterpret_cast<const Block*>(gemm.right.data + column * gemm.right.width_stride);
    float32x4_t sums[rows];
    unrolled<rows>(INGOT_UNROLLED(row) { sums[row] = vdupq_n_f32(0); });
    for (std::int64_t b = 0; b < blocks; ++b) add_block<Block, rows>(weights[b], x + b, blocks, sums);
    store_column<rows>(gemm, column, sums);
  }
}
