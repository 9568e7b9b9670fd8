// Formats of 32 elements: four blocks of a row of weights at a time. Part of gemm_codes_neon_dotprod.cc, after
// blocks_32_neon-inl.h.
//
// A dot product leaves four lanes a block. Pairwise additions make one lane of them before they become floats: a
// conversion is the dearest instruction here (one a cycle on Neoverse V1, where four of the others issue).

template <class Block, int rows, bool all, std::size_t streams>
HWY_INLINE void add_four(const std::array<const Block*, streams>& weights, std::int64_t span, std::int64_t blocks,
                         const CodedSpan32* x, std::int64_t spans, float32x4_t (&sums)[streams][rows]) {
  unrolled<rows>(INGOT_UNROLLED(row) {
    const CodedSpan32& in = x[span + row * spans];
    int8x16_t first[4], second[4];
    unrolled<4>(INGOT_UNROLLED(b) {
      first[b] = vld1q_s8(in.codes[0] + 16 * b);
      second[b] = vld1q_s8(in.codes[1] + 16 * b);
    });
    const float32x4_t of_x = vld1q_f32(in.scales);
    unrolled<static_cast<int>(streams)>(INGOT_UNROLLED(i) {
      const FourBlocks<Block, all> four = {weights[i] + 4 * span, blocks - 4 * span};
      int32x4_t dots[4];
      unrolled<4>(INGOT_UNROLLED(b) {
        const CodeHalves codes = load_codes(*four[b]);
        dots[b] = vdotq_s32(vdotq_s32(zero_for(codes.first), codes.first, first[b]), codes.second, second[b]);
      });
      int32x4_t sum = vpaddq_s32(vpaddq_s32(dots[0], dots[1]), vpaddq_s32(dots[2], dots[3]));
      if constexpr (code_offset<Block> != 0) sum = vaddq_s32(sum, vld1q_s32(in.corrections));
      const FourScales of_weights = load_scales(four);
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      sums[i][row] = vfmaq_f32(sums[i][row], vmulq_f32(vcvtq_f32_s32(sum), of_x), of_weights.scales);
      if constexpr (requires(const Block& block) { block.base; }) {
        sums[i][row] = vfmaq_f32(sums[i][row], of_weights.bases, vld1q_f32(in.scaled_sums));
      }
    });
  });
}

template <class Block, int rows>
void multiply_columns_32(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 32;
  const std::int64_t spans = (blocks + 3) / 4;
  const auto* x = reinterpret_cast<const CodedSpan32*>(coded);
  for_streams<Block, weight_streams<rows, 4>>(
      gemm, begin, end,
      [&]<std::size_t streams>(const std::array<std::int64_t, streams>& columns,
                               const std::array<const Block*, streams>& weights) __attribute__((always_inline)) {
        float32x4_t sums[streams][rows];
        unrolled<static_cast<int>(streams) * rows>(INGOT_UNROLLED(i) { sums[i / rows][i % rows] = vdupq_n_f32(0); });
        if constexpr (std::is_same_v<Block, BlockQ4_0> && rows == 1) {
          if (blocks >= 4) add_spans_of_q4_0(weights, blocks / 4, x, sums);
        } else {
          for (std::int64_t span = 0; span < blocks / 4; ++span) {
            add_four<Block, rows, true>(weights, span, blocks, x, spans, sums);
          }
        }
        if (blocks % 4 != 0) add_four<Block, rows, false>(weights, blocks / 4, blocks, x, spans, sums);
        unrolled<static_cast<int>(streams)>(INGOT_UNROLLED(i) { store_column<rows>(gemm, columns[i], sums[i]); });
      });
}
