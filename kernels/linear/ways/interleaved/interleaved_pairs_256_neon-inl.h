// Two to four rows of x, in pairs, and interleaved weights in blocks of 256: Q4_K and Q6_K, after which stand the loops
// over all formats whose integers take more to put together. Part of a source, after even_pairs_neon-inl.h.

template <int pairs>
struct PairsBlock256 {
  std::int8_t codes[32][pairs][2][8];  // [eight][pair][row]
  std::int32_t starts[16][pairs][4];   // of the sums of sixteen with codes of Q6_K, which are 32 too large
  std::int8_t sums[2][pairs][2][8];    // of 32 elements: 64 times the first and the second
  float scales[pairs][4];
};

template <int pairs>
void prepare_pairs_256(const Matmul::Arguments& a, Workers& workers, std::byte* prepared) {
  auto* x = reinterpret_cast<PairsBlock256<pairs>*>(prepared);
  const std::int64_t rows = a.x.size(0);
  workers.for_chunks(a.x.size(1) / 256, 1, [&](std::int64_t b, std::int64_t, int) {
    x[b] = {};  // a row past the last counts for nothing
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t pair = row / 2, of_pair = row % 2;
      alignas(16) std::int8_t codes[256];
      std::int32_t sums[16];
      const float scale = row_reader(a, row, encode_activation_block.neon).read(256 * b, 256, codes, sums);
      for (int eight = 0; eight < 32; ++eight) std::memcpy(x[b].codes[eight][pair][of_pair], codes + 8 * eight, 8);
      for (int g = 0; g < 16; ++g) x[b].starts[g][pair][of_pair] = x[b].starts[g][pair][of_pair + 2] = -32 * sums[g];
      for (int g = 0; g < 8; ++g) {
        const std::int32_t sum = sums[2 * g] + sums[2 * g + 1], upper = (sum + 32) >> 6;
        x[b].sums[0][pair][of_pair][g] = static_cast<std::int8_t>(upper);
        x[b].sums[1][pair][of_pair][g] = static_cast<std::int8_t>(sum - 64 * upper);
      }
      x[b].scales[pair][of_pair] = x[b].scales[pair][of_pair + 2] = scale;
    }
  });
}

// What pack_sixes joined.
HWY_INLINE void unpack_sixes(const uint8x16_t (&b)[3], uint8x16_t (&codes)[4]) {
  unrolled<3>(INGOT_UNROLLED(i) { codes[i] = vandq_u8(b[i], vdupq_n_u8(63)); });
  codes[3] = vsriq_n_u8(vsriq_n_u8(vshrq_n_u8(b[2], 2), b[1], 4), b[0], 6);
}

// Bytes `row` and `row + 1` of a register, twice each, as the lowest (highest: + 3) bytes of four lanes.
constexpr std::uint8_t none = 255;
template <int lane_byte>
HWY_INLINE uint32x4_t spread_bytes(uint8x16_t from, int row) {
  alignas(16) static constexpr std::uint8_t places[16] = {0, none, none, none, 0, none, none, none,
                                                          1, none, none, none, 1, none, none, none};
  const uint8x16_t at = vqaddq_u8(vld1q_u8(places), vdupq_n_u8(static_cast<std::uint8_t>(row)));
  const uint32x4_t spread = vreinterpretq_u32_u8(vqtbl1q_u8(from, at));
  return lane_byte == 0 ? spread : vshlq_n_u32(spread, 24);
}

// Integers of a block with the scales of the rows.
template <int pairs>
HWY_INLINE void scale_rows(const FourRows<pairs, int32x4_t>& sums, const StoredHalf* scales,
                           FourRows<pairs, float32x4_t>& scaled) {
  float32x4_t of_rows[2];
  spread_halves(scales, of_rows);
  unrolled<2 * pairs>(INGOT_UNROLLED(i) {
    constexpr int two = i / pairs, pair = i % pairs;
    scaled[two][pair] = vfmaq_f32(scaled[two][pair], vcvtq_f32_s32(sums[two][pair]), of_rows[two]);
  });
}
// And with those of x. Not the product of both scales first: it may lie below the normal range where the sum does not.
template <int pairs>
HWY_INLINE void add_rows(const FourRows<pairs, float32x4_t>& scaled, const PairsBlock256<pairs>& x,
                         FourRows<pairs, float32x4_t>& totals) {
  unrolled<2 * pairs>(INGOT_UNROLLED(i) {
    constexpr int two = i / pairs, pair = i % pairs;
    totals[two][pair] = vfmaq_f32(totals[two][pair], scaled[two][pair], vld1q_f32(x.scales[pair]));
  });
}

template <int pairs>
HWY_INLINE void add_four_rows(const InterleavedBlocks<BlockQ6_K>& weights, int four, const PairsBlock256<pairs>& x,
                              FourRows<pairs, float32x4_t>& totals) {
  FourRows<pairs, int32x4_t> all = {};
  for (int g = 0; g < 16; ++g) {
    if (four == 0) ask_ahead<1024>(weights.codes[g]);
    if (four == 0 && g % 2 == 0) ask_ahead<1024 + 64>(weights.codes[g]);
    uint8x16_t bytes[3], codes[4];
    unrolled<3>(INGOT_UNROLLED(i) { bytes[i] = vld1q_u8(weights.codes[g][i][four]); });
    unpack_sixes(bytes, codes);
    FourRows<pairs, int32x4_t> sums;
    unrolled<2 * pairs>(INGOT_UNROLLED(i) { sums[i / pairs][i % pairs] = vld1q_s32(x.starts[g][i % pairs]); });
    unrolled<2>(INGOT_UNROLLED(i) {
      RowPairs rows;
      zip_quads(codes[2 * i], codes[2 * i + 1], rows);
      multiply_eight<pairs>(rows, x.codes[2 * g + i], sums);
    });
    const uint8x8_t group_scales = vreinterpret_u8_s8(vld1_s8(weights.group_scales[g]));
    unrolled<2>(INGOT_UNROLLED(two) {
      const uint32x4_t high = spread_bytes<3>(vcombine_u8(group_scales, group_scales), four + 2 * two);
      const int32x4_t scale = vshrq_n_s32(vreinterpretq_s32_u32(high), 24);
      unrolled<pairs>(INGOT_UNROLLED(pair) { all[two][pair] = vmlaq_s32(all[two][pair], sums[two][pair], scale); });
    });
  }
  FourRows<pairs, float32x4_t> scaled = {};
  scale_rows<pairs>(all, weights.scales + four, scaled);
  add_rows<pairs>(scaled, x, totals);
}

template <int pairs>
HWY_INLINE void add_four_rows(const InterleavedBlocks<BlockQ4_K>& weights, int four, const PairsBlock256<pairs>& x,
                              FourRows<pairs, float32x4_t>& totals) {
  FourRows<pairs, int32x4_t> all = {}, less = {};
  uint8x16_t packed[3], scales[4], minimums[4];
  unrolled<3>(INGOT_UNROLLED(i) { packed[i] = vld1q_u8(weights.group_scales[i]); });
  unpack_sixes(packed, scales);
  unrolled<3>(INGOT_UNROLLED(i) { packed[i] = vld1q_u8(weights.group_minimums[i]); });
  unpack_sixes(packed, minimums);
  unrolled<4>(INGOT_UNROLLED(c) {  // 64 elements: a group in low nibbles and one in high ones
    FourRows<pairs, int32x4_t> sums[2] = {};
    unrolled<4>(INGOT_UNROLLED(e) {
      if (four == 0) ask_ahead<1024>(weights.codes[4 * c + e]);
      RowPairs low, high;
      unrolled<2>(INGOT_UNROLLED(i) {
        const uint8x16_t bytes = vld1q_u8(weights.codes[4 * c + e][four + 2 * i]);
        low[i] = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
        high[i] = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
      });
      multiply_eight<pairs>(low, x.codes[8 * c + e], sums[0]);
      multiply_eight<pairs>(high, x.codes[8 * c + 4 + e], sums[1]);
    });
    unrolled<4>(INGOT_UNROLLED(i) {
      constexpr int odd = i / 2, two = i % 2;
      const int32x4_t scale = vreinterpretq_s32_u32(spread_bytes<0>(scales[c], 8 * odd + four + 2 * two));
      unrolled<pairs>(
          INGOT_UNROLLED(pair) { all[two][pair] = vmlaq_s32(all[two][pair], sums[odd][two][pair], scale); });
    });
  });
  RowPairs of_rows;  // eight minimums each
  zip_quads(four == 0 ? minimums[0] : minimums[1], four == 0 ? minimums[2] : minimums[3], of_rows);
  multiply_eight<pairs>(of_rows, x.sums[0], less);
  unrolled<2 * pairs>(
      INGOT_UNROLLED(i) { less[i / pairs][i % pairs] = vnegq_s32(vshlq_n_s32(less[i / pairs][i % pairs], 6)); });
  unrolled<2>(INGOT_UNROLLED(i) { of_rows[i] = vnegq_s8(of_rows[i]); });
  multiply_eight<pairs>(of_rows, x.sums[1], less);
  FourRows<pairs, float32x4_t> scaled = {};
  scale_rows<pairs>(less, weights.minimums + four, scaled);
  scale_rows<pairs>(all, weights.scales + four, scaled);
  add_rows<pairs>(scaled, x, totals);
}

// --- all of them, and Q5_0 ---

template <class Block, class X, int pairs, int count>
HWY_INLINE void multiply_pairs(const InterleavedBlocks<Block>* const (&weights)[count], std::int64_t blocks, const X* x,
                               float (&totals)[count][interleaved_rows / 2][pairs][4]) {
  FourRows<pairs, float32x4_t> sums[count][2] = {};
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (int i = 0; i < count; ++i) {
      unrolled<2>(INGOT_UNROLLED(half) { add_four_rows<pairs>(weights[i][b], 4 * half, x[b], sums[i][half]); });
    }
  }
  for (int i = 0; i < count * 4 * pairs; ++i) {
    const int braid = i / (4 * pairs), two = i / pairs % 4, pair = i % pairs;
    vst1q_f32(totals[braid][two][pair], sums[braid][two / 2][two % 2][pair]);
  }
}

inline std::size_t prepared_256_bytes(const Matmul::Arguments& a) {
  return static_cast<std::size_t>(a.x.size(1) / 256) *
         (a.x.size(0) <= 2 ? sizeof(PairsBlock256<1>) : sizeof(PairsBlock256<2>));
}

// Blocks of x and what its rows' sums are multiplied with.
template <class Block, int pairs>
auto prepared_x(const std::byte* prepared) {
  if constexpr (Block::elements == 256) {
    static constexpr float ones[4] = {1, 1, 1, 1};
    return std::pair(reinterpret_cast<const PairsBlock256<pairs>*>(prepared), ones + 0);
  } else {
    const auto& x = *reinterpret_cast<const PairsOfX<pairs>*>(prepared);
    return std::pair(x.blocks(), x.unscale + 0);
  }
}
