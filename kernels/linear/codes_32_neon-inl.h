// Formats of 32 elements: four blocks of a row of weights at a time. Part of gemm_codes_neon_dotprod.cc, after
// blocks_32_neon-inl.h.
//
// A dot product leaves four lanes a block. Pairwise additions make one lane of them before they become floats: a
// conversion is the dearest instruction here (one a cycle on Neoverse V1, where four of the others issue).

template <class Block, int rows, bool all>
HWY_INLINE void add_four(FourBlocks<Block, all> blocks, const CodedSpan32* x, std::int64_t spans,
                         float32x4_t (&sums)[rows]) {
  CodeHalves codes[4];
  unrolled<4>(INGOT_UNROLLED(b) { codes[b] = load_codes(*blocks[b]); });
  const FourScales of_weights = load_scales(blocks);
  unrolled<rows>(INGOT_UNROLLED(row) {
    const CodedSpan32& in = x[row * spans];
    int32x4_t dots[4];
    unrolled<4>(INGOT_UNROLLED(b) {
      const int8x16_t from = vld1q_s8(in.codes[0] + 16 * b);
      const int32x4_t first = vdotq_s32(zero_for(from), codes[b].first, from);
      dots[b] = vdotq_s32(first, codes[b].second, vld1q_s8(in.codes[1] + 16 * b));
    });
    int32x4_t sum = vpaddq_s32(vpaddq_s32(dots[0], dots[1]), vpaddq_s32(dots[2], dots[3]));
    if constexpr (code_offset<Block> != 0) sum = vaddq_s32(sum, vld1q_s32(in.corrections));
    // Not the product of both scales first: it may lie below the normal range where the sum does not.
    const float32x4_t x_sum = vmulq_f32(vcvtq_f32_s32(sum), vld1q_f32(in.scales));
    sums[row] = vfmaq_f32(sums[row], x_sum, of_weights.scales);
    if constexpr (requires(const Block& block) { block.base; }) {
      sums[row] = vfmaq_f32(sums[row], of_weights.bases, vld1q_f32(in.scaled_sums));
    }
  });
}

template <class Block, int rows>
void multiply_columns_32(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 32;
  const std::int64_t spans = (blocks + 3) / 4;
  const auto* x = reinterpret_cast<const CodedSpan32*>(coded);
  for (std::int64_t column = begin; column < end; ++column) {
    const auto* weights = reinterpret_cast<const Block*>(gemm.right.data + column * gemm.right.width_stride);
    float32x4_t sums[rows];
    unrolled<rows>(INGOT_UNROLLED(row) { sums[row] = vdupq_n_f32(0); });
    for (std::int64_t span = 0; span < blocks / 4; ++span) {
      add_four<Block, rows>(FourBlocks<Block, true>{weights + 4 * span, 4}, x + span, spans, sums);
    }
    if (blocks % 4 != 0) {
      const std::int64_t whole = blocks / 4;
      add_four<Block, rows>(FourBlocks<Block, false>{weights + 4 * whole, blocks % 4}, x + whole, spans, sums);
    }
    store_column<rows>(gemm, column, sums);
  }
}
