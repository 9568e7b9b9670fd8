// Formats of 256 elements. Part of gemm_codes_neon_dotprod.cc, after blocks_256_neon-inl.h.
//
// The four lanes of a group's dot product are multiplied by its integer scale as they are, and a whole block stays in
// integers (below 2^24 a lane) until it becomes floats once.

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
