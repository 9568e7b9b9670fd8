// Pairs of rows of x (pairs_of_x_neon-inl.h) times four rows of interleaved weights in blocks of 32, summed in the
// order in which every even way sums ("One order of sums" in kernels/linear/README.md): integers are multiplied with
// the scale of their row of weights, then with that of x. Part of a source, after pairs_of_x_neon-inl.h. Sums with four
// rows of x are four registers, with eight rows eight, which compilers keep.

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

// Integers of a block, with their start, to totals.
template <int pairs>
HWY_INLINE void add_scaled(const FourRows<pairs, int32x4_t>& sums, const StoredHalf* scales, const PairsBlock<pairs>& x,
                           FourRows<pairs, float32x4_t>& totals) {
  float32x4_t of_rows[2], less_starts[2];
  spread_halves(scales, of_rows);
  unrolled<2>(INGOT_UNROLLED(two) { less_starts[two] = vmulq_n_f32(of_rows[two], -float_start); });
  unrolled<2 * pairs>(INGOT_UNROLLED(i) {
    constexpr int two = i / pairs, pair = i % pairs;
    const float32x4_t sum = vreinterpretq_f32_s32(sums[two][pair]);
    const float32x4_t scaled = vfmaq_f32(less_starts[two], sum, of_rows[two]);
    totals[two][pair] = vfmaq_f32(totals[two][pair], scaled, vld1q_f32(x.scales[pair]));
  });
}

template <int pairs>
HWY_INLINE void start_sums(const PairsBlock<pairs>& x, FourRows<pairs, int32x4_t>& sums) {
  unrolled<2 * pairs>(INGOT_UNROLLED(i) { sums[i / pairs][i % pairs] = vld1q_s32(x.starts[i % pairs]); });
}

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
  start_sums<pairs>(x, sums);
  unrolled<4>(INGOT_UNROLLED(eight) {
    RowPairs rows;
    zip_quads(codes[2 * eight], codes[2 * eight + 1], rows);
    multiply_eight<pairs>(rows, x.codes[eight], sums);
  });
  add_scaled<pairs>(sums, weights.scales + four, x, totals);
}

template <int pairs>
HWY_INLINE void add_four_rows(const InterleavedBlocks<BlockQ4_0>& weights, int four, const PairsBlock<pairs>& x,
                              FourRows<pairs, float32x4_t>& totals) {
  if (four == 0) {
    unrolled<3>(INGOT_UNROLLED(i) { ask_ahead<768 + 64 * i>(&weights); });
  }
  FourRows<pairs, int32x4_t> sums;
  start_sums<pairs>(x, sums);
  unrolled<2>(INGOT_UNROLLED(eight) {  // a byte holds elements j and j + 16
    RowPairs bytes, low, high;
    zip_quads(vld1q_u8(weights.codes[2 * eight][four]), vld1q_u8(weights.codes[2 * eight + 1][four]), bytes);
    unrolled<2>(INGOT_UNROLLED(i) {
      const uint8x16_t nibbles = vreinterpretq_u8_s8(bytes[i]);
      low[i] = vreinterpretq_s8_u8(vandq_u8(nibbles, vdupq_n_u8(15)));
      high[i] = vreinterpretq_s8_u8(vshrq_n_u8(nibbles, 4));
    });
    multiply_eight<pairs>(low, x.codes[eight], sums);
    multiply_eight<pairs>(high, x.codes[2 + eight], sums);
  });
  add_scaled<pairs>(sums, weights.scales + four, x, totals);
}

template <int pairs>
HWY_INLINE void add_four_rows(const InterleavedBlocks<BlockQ8_0>& weights, int four, const PairsBlock<pairs>& x,
                              FourRows<pairs, float32x4_t>& totals) {
  if (four == 0) {
    unrolled<5>(INGOT_UNROLLED(i) { ask_ahead<1024 + 64 * i>(&weights); });
  }
  FourRows<pairs, int32x4_t> sums;
  start_sums<pairs>(x, sums);
  unrolled<4>(INGOT_UNROLLED(eight) {
    RowPairs rows;
    zip_quads(vld1q_u8(weights.codes[2 * eight][four]), vld1q_u8(weights.codes[2 * eight + 1][four]), rows);
    multiply_eight<pairs>(rows, x.codes[eight], sums);
  });
  add_scaled<pairs>(sums, weights.scales + four, x, totals);
}
