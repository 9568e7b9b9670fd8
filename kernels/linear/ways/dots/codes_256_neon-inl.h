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

template <class Block, int rows, std::size_t streams>
HWY_INLINE void add_block(const std::array<const Block*, streams>& weights, std::int64_t b, const CodedSpan256* x,
                          std::int64_t blocks, float32x4_t (&sums)[streams][rows]) {
  constexpr int groups = 256 / Block::group;
  constexpr int sixteens = Block::group / 16;  // of a group, neighbours in every order
  constexpr int count = static_cast<int>(streams);
  GroupWords words[streams];
  int32x4_t scales[streams][groups / 4];
  int32x4_t totals[streams][rows];
  unrolled<count>(INGOT_UNROLLED(i) {
    words[i] = load_groups(weights[i][b]);
    unrolled<groups / 8>(INGOT_UNROLLED(j) {
      scales[i][2 * j] = vmovl_s16(vget_low_s16(words[i].scales[j]));
      scales[i][2 * j + 1] = vmovl_high_s16(words[i].scales[j]);
    });
    unrolled<rows>(INGOT_UNROLLED(row) { totals[i][row] = vdupq_n_s32(0); });
  });
  unrolled<groups>(INGOT_UNROLLED(g) {
    constexpr int first = g * sixteens;
    constexpr int group = CodedOrder<Block>::sixteens[first] / sixteens;
    int8x16_t codes[streams][sixteens];
    unrolled<count * sixteens>(INGOT_UNROLLED(i) {
      codes[i / sixteens][i % sixteens] = vreinterpretq_s8_u8(codes_at<first + i % sixteens>(weights[i / sixteens][b]));
    });
    unrolled<rows>(INGOT_UNROLLED(row) {
      const std::int8_t* from = x[b + row * blocks].codes[0] + 16 * first;
      int8x16_t of_x[sixteens];
      unrolled<sixteens>(INGOT_UNROLLED(u) { of_x[u] = vld1q_s8(from + 16 * u); });
      unrolled<count>(INGOT_UNROLLED(i) {
        int32x4_t dot = zero_for(codes[i][0]);
        if constexpr (code_offset<Block> != 0) {
          static_assert(sixteens == 1);
          dot = vld1q_s32(x[b + row * blocks].corrections[first / 4] + 4 * (first % 4));
        }
        unrolled<sixteens>(INGOT_UNROLLED(u) { dot = vdotq_s32(dot, codes[i][u], of_x[u]); });
        totals[i][row] = vmlaq_laneq_s32(totals[i][row], dot, scales[i][group / 4], group % 4);
      });
    });
  });
  unrolled<count>(INGOT_UNROLLED(i) {
    const Block& block = weights[i][b];
    const float scale = half_value(block.scale);
    unrolled<rows>(INGOT_UNROLLED(row) {
      const CodedSpan256& in = x[b + row * blocks];
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      sums[i][row] = vfmaq_n_f32(sums[i][row], vmulq_n_f32(vcvtq_f32_s32(totals[i][row]), in.scale), scale);
      if constexpr (requires { block.minimum; }) {
        const int32x4_t products = multiply_groups<Block>(words[i].minimums, in.sums);
        const float32x4_t x_minimums = vmulq_n_f32(vcvtq_f32_s32(products), in.scale);
        sums[i][row] = vfmsq_n_f32(sums[i][row], x_minimums, half_value(block.minimum));
      }
    });
  });
}

template <class Block, int rows>
void multiply_columns_256(const Gemm& gemm, const std::byte* coded, std::int64_t begin, std::int64_t end) {
  const std::int64_t blocks = gemm.depth / 256;
  const auto* x = reinterpret_cast<const CodedSpan256*>(coded);
  for_streams<Block, weight_streams<rows, 2>>(
      gemm, begin, end,
      [&]<std::size_t streams>(const std::array<std::int64_t, streams>& columns,
                               const std::array<const Block*, streams>& weights) __attribute__((always_inline)) {
        float32x4_t sums[streams][rows];
        unrolled<static_cast<int>(streams) * rows>(INGOT_UNROLLED(i) { sums[i / rows][i % rows] = vdupq_n_f32(0); });
        if constexpr (rows == 1 && requires { multiply_blocks(weights, blocks, x); }) {
          if (blocks > 0) {
            const float32x4_t both = multiply_blocks(weights, blocks, x);
            sums[0][0] = vcombine_f32(vget_low_f32(both), vdup_n_f32(0));
            sums[1][0] = vcombine_f32(vget_high_f32(both), vdup_n_f32(0));
          }
        } else {
          for (std::int64_t b = 0; b < blocks; ++b) add_block<Block, rows>(weights, b, x, blocks, sums);
        }
        unrolled<static_cast<int>(streams)>(INGOT_UNROLLED(i) { store_column<rows>(gemm, columns[i], sums[i]); });
      });
}
