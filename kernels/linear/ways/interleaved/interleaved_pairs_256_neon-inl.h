// Two to four rows of x, in pairs, and interleaved weights whose integers take more to put together: Q5_0, Q4_K and
// Q6_K. Part of a source, after interleaved_pairs_neon-inl.h. Four rows of weights at a time: their sums with four rows
// of x are four registers, which compilers keep.

// Two rows by eight codes, twice.
using RowPairs = int8x16_t[2];

HWY_INLINE void zip_quads(uint8x16_t a, uint8x16_t b, RowPairs& to) {
  to[0] = vreinterpretq_s8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
  to[1] = vreinterpretq_s8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}

// Sums of four rows with pairs of rows of x.
template <int pairs, class Lanes>
using FourRows = Lanes[2][pairs];

template <int pairs>
HWY_INLINE void multiply_eight(const RowPairs& codes, const std::int8_t (&x)[pairs][2][8],
                               FourRows<pairs, int32x4_t>& sums) {
  unrolled<pairs>(INGOT_UNROLLED(pair) {
    const int8x16_t of_x = vld1q_s8(x[pair][0]);
    unrolled<2>(INGOT_UNROLLED(i) { sums[i][pair] = vmmlaq_s32(sums[i][pair], codes[i], of_x); });
  });
}

// Asks the memory for what comes later; past the end that is harmless.
template <int ahead>
HWY_INLINE void ask_ahead(const void* from) {
  __asm__ volatile("prfm pldl1strm, [%0, %1]" : : "r"(from), "n"(ahead));
}

// Scales of four rows in the lanes of their products.
HWY_INLINE void spread_halves(const StoredHalf* four, float32x4_t (&to)[2]) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(four);
  const float32x4_t scales = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(bytes)));
  to[0] = vzip1q_f32(scales, scales);
  to[1] = vzip2q_f32(scales, scales);
}

// --- Q5_0 ---

// What pack_fives joined.
HWY_INLINE void unpack_fives(const uint8x16_t (&b)[5], uint8x16_t (&codes)[8]) {
  unrolled<5>(INGOT_UNROLLED(i) { codes[i] = vandq_u8(b[i], vdupq_n_u8(31)); });
  codes[5] = vsriq_n_u8(vshrq_n_u8(b[1], 3), b[0], 5);
  codes[6] = vsriq_n_u8(vshrq_n_u8(b[2], 3), vsriq_n_u8(vshlq_n_u8(b[1], 2), vshlq_n_u8(b[3], 2), 1), 6);
  codes[7] = vsriq_n_u8(vshrq_n_u8(b[3], 3), b[4], 5);
}

template <int pairs>
HWY_INLINE void add_four_rows(const InterleavedBlocks<BlockQ5_0>& weights, int four, const PairsBlock<pairs>& x,
                              FourRows<pairs, float32x4_t>& totals) {
  if (four == 0) {
    unrolled<3>(INGOT_UNROLLED(i) { ask_ahead<768 + 64 * i>(&weights); });
  }
  uint8x16_t bytes[5], codes[8];
  unrolled<5>(INGOT_UNROLLED(i) { bytes[i] = vld1q_u8(weights.codes[i][four]); });
  unpack_fives(bytes, codes);
  FourRows<pairs, int32x4_t> sums;
  unrolled<2 * pairs>(INGOT_UNROLLED(i) { sums[i / pairs][i % pairs] = vld1q_s32(x.starts[i % pairs]); });
  unrolled<4>(INGOT_UNROLLED(eight) {
    RowPairs rows;
    zip_quads(codes[2 * eight], codes[2 * eight + 1], rows);
    multiply_eight<pairs>(rows, x.codes[eight], sums);
  });
  float32x4_t scales[2];
  spread_halves(weights.scales + four, scales);
  unrolled<2 * pairs>(INGOT_UNROLLED(i) {
    constexpr int two = i / pairs, pair = i % pairs;
    const float32x4_t sum = vreinterpretq_f32_s32(sums[two][pair]);
    const float32x4_t scaled = vfmaq_f32(vld1q_f32(x.less_starts[pair]), sum, vld1q_f32(x.scales[pair]));
    totals[two][pair] = vfmaq_f32(totals[two][pair], scaled, scales[two]);
  });
}

// --- blocks of 256 ---

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

// Integers of a block with the scales of x and of the rows.
template <int pairs>
HWY_INLINE void add_scaled(const FourRows<pairs, int32x4_t>& sums, const PairsBlock256<pairs>& x,
                           const StoredHalf* scales, FourRows<pairs, float32x4_t>& totals) {
  float32x4_t of_rows[2];
  spread_halves(scales, of_rows);
  unrolled<2 * pairs>(INGOT_UNROLLED(i) {
    constexpr int two = i / pairs, pair = i % pairs;
    // Not the product of both scales first: it may lie below the normal range where the sum does not.
    const float32x4_t scaled = vmulq_f32(vcvtq_f32_s32(sums[two][pair]), vld1q_f32(x.scales[pair]));
    totals[two][pair] = vfmaq_f32(totals[two][pair], scaled, of_rows[two]);
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
  add_scaled<pairs>(all, x, weights.scales + four, totals);
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
  add_scaled<pairs>(all, x, weights.scales + four, totals);
  add_scaled<pairs>(less, x, weights.minimums + four, totals);
}

// --- all three ---

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
         (a.x.size(0) == 2 ? sizeof(PairsBlock256<1>) : sizeof(PairsBlock256<2>));
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
