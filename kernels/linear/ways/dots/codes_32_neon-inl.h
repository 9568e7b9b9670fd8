// Formats of 32 elements: four blocks of a row of weights at a time. Part of gemm_codes_neon_dotprod.cc, after
// blocks_32_neon-inl.h.
//
// A dot product leaves four lanes a block. Pairwise additions make one lane of them before they become floats: a
// conversion is the dearest instruction here (one a cycle on Neoverse V1, where four of the others issue).

// `count` of them are there; where `all` is not said, fewer may be, and x is zero at the others.
template <class Block, int rows, int count, bool all, std::size_t streams>
HWY_INLINE void add_four(const std::array<const Block*, streams>& weights, std::int64_t span, std::int64_t blocks,
                         const CodedSpan32* x, std::int64_t spans, float32x4_t (&sums)[streams][rows]) {
  unrolled<rows>(INGOT_UNROLLED(row) {
    const CodedSpan32& in = x[span + row * spans];
    int8x16_t first[4], second[4];
    unrolled<count>(INGOT_UNROLLED(b) {
      first[b] = vld1q_s8(in.codes[0] + 16 * b);
      second[b] = vld1q_s8(in.codes[1] + 16 * b);
    });
    const float32x4_t of_x = vld1q_f32(in.scales);
    unrolled<static_cast<int>(streams)>(INGOT_UNROLLED(i) {
      const FourBlocks<Block, all> four = {weights[i] + 4 * span, blocks - 4 * span};
      int32x4_t dots[4] = {};
      unrolled<count>(INGOT_UNROLLED(b) {
        const Codes32 codes = load_codes(*four[b]);
        dots[b] = vdotq_s32(vdotq_s32(zero_for(codes.first), codes.first, first[b]), codes.second, second[b]);
      });
      const int32x4_t later = count > 2 ? vpaddq_s32(dots[2], dots[3]) : dots[2];
      int32x4_t sum = vpaddq_s32(vpaddq_s32(dots[0], dots[1]), later);
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

// What is left of a row behind its last four blocks. A row of x alone is worth a way for each number of them: a narrow
// model has rows of eighteen blocks.
template <class Block, int rows, std::size_t streams>
HWY_INLINE void add_rest(const std::array<const Block*, streams>& weights, std::int64_t blocks, const CodedSpan32* x,
                         std::int64_t spans, float32x4_t (&sums)[streams][rows]) {
  const std::int64_t span = blocks / 4;
  if constexpr (rows > 1) {
    if (blocks % 4 != 0) add_four<Block, rows, 4, false>(weights, span, blocks, x, spans, sums);
  } else {
    switch (blocks % 4) {
      case 1: return add_four<Block, rows, 1, false>(weights, span, blocks, x, spans, sums);
      case 2: return add_four<Block, rows, 2, false>(weights, span, blocks, x, spans, sums);
      case 3: return add_four<Block, rows, 3, false>(weights, span, blocks, x, spans, sums);
      default: return;
    }
  }
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
            add_four<Block, rows, 4, true>(weights, span, blocks, x, spans, sums);
          }
        }
        add_rest<Block, rows>(weights, blocks, x, spans, sums);
        unrolled<static_cast<int>(streams)>(INGOT_UNROLLED(i) { store_column<rows>(gemm, columns[i], sums[i]); });
      });
}
