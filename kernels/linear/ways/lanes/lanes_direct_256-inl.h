// Weights that are bytes already (q8_0), by few rows of x: unpacking them into lanes would cost more than it saves.
// Blocks are multiplied where they lie, row by row of the weights. Part of a source, after lanes_columns-inl.h; of
// Bytes it also takes:
//
//   static __m256i dot(__m256i weights, __m256i x, std::int32_t correction);   32 products, in lanes that sum to theirs
//
// where the correction is that of the group.

HWY_INLINE float add_lanes(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

template <int rows>
void multiply_directly(const Gemm& gemm, const LaneSpan* x) {
  constexpr std::int64_t most_blocks = lane_depth / 32;
  const std::int64_t blocks = gemm.depth / 32;
  for (std::int64_t column = 0; column < gemm.columns; ++column) {
    const auto* weights = reinterpret_cast<const BlockQ8_0*>(gemm.right.data + column * gemm.right.width_stride);
    __m256 sums[rows];
    unrolled<rows>(INGOT_UNROLLED(row) { sums[row] = _mm256_setzero_ps(); });
    const LaneSpan* spans = x;
    for (std::int64_t first = 0; first < blocks; first += most_blocks, weights += most_blocks, spans += rows) {
      const std::int64_t count = std::min(most_blocks, blocks - first);
      alignas(32) float scales[most_blocks];
      if (count == most_blocks) {  // eight halves become floats at once
        auto half = [&](int b) { return static_cast<short>(weights[b].scale.bits()); };
        _mm256_store_ps(scales, _mm256_cvtph_ps(_mm_setr_epi16(half(0), half(1), half(2), half(3), half(4), half(5),
                                                               half(6), half(7))));
      } else {
        for (std::int64_t b = 0; b < count; ++b) scales[b] = _cvtsh_ss(weights[b].scale.bits());
      }
      for (std::int64_t b = 0; b < count; ++b) {
        const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights[b].codes));
        unrolled<rows>(INGOT_UNROLLED(row) {
          const __m256i dots = Bytes::dot(codes, Lanes::load(spans[row].codes + 32 * b), spans[row].corrections[b]);
          // Not the product of both scales first: it may lie below the normal range where the sum does not.
          const __m256 x_sum = _mm256_mul_ps(_mm256_cvtepi32_ps(dots), _mm256_set1_ps(spans[row].scales[b]));
          sums[row] = _mm256_fmadd_ps(x_sum, _mm256_set1_ps(scales[b]), sums[row]);
        });
      }
    }
    const float bias = gemm.bias == nullptr ? 0.0f : gemm.bias[column];
    unrolled<rows>(INGOT_UNROLLED(row) { gemm.out[row * gemm.out_stride + column] = add_lanes(sums[row]) + bias; });
  }
}

void directly_or_in_lanes(const Gemm& gemm, const std::byte* spans) {
  constexpr std::array directly = {multiply_directly<1>, multiply_directly<2>, multiply_directly<3>,
                                   multiply_directly<4>};
  const auto rows = static_cast<std::size_t>(gemm.rows);
  if (gemm.right.dtype != DType::q8_0 || rows > directly.size()) return columns(gemm, spans);
  directly[rows - 1](gemm, reinterpret_cast<const LaneSpan*>(spans));
}
