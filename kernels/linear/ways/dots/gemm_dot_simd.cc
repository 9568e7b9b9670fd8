// Few rows of activations: weights are read once, as they lie, and each meets all rows while it is in a register. What
// bounds this is memory, so the loop only needs enough sums in flight to keep loads coming.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/ways/dots/gemm_dot_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/convert-inl.h"
#include "kernels/vector/half_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

// Registers: `rows` x `columns` sums, a vector of each column's weights, and one of x. A fused multiply-add takes 4
// cycles and two start each cycle, so 8 sums are the least; more columns at once mean fewer loads of x, which where it
// has several rows comes from the second-level cache.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
template <int rows>
inline constexpr int dot_tile_columns = rows == 1 ? 8 : 3;  // 16 registers
#elif HWY_TARGET == HWY_NEON
template <int rows>
inline constexpr int dot_tile_columns = rows == 1 ? 8 : 4;  // 32 registers, and no operand comes from memory
#else
template <int rows>
inline constexpr int dot_tile_columns = rows == 1   ? 8
                                        : rows == 4 ? 6
                                                    : 4;  // 32 registers
#endif

// results[column][row]
template <class Element, int rows, int columns, std::size_t... i, std::size_t... column>
HWY_INLINE void dot_tile(const float* const (&x)[rows], const Element* const (&weights)[columns], std::int64_t depth,
                         float (&results)[rows * columns], std::index_sequence<i...>, std::index_sequence<column...>) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<Floats> sums[] = {(static_cast<void>(i), hn::Zero(d))...};
  std::int64_t k = 0;
  for (; k + lanes <= depth; k += lanes) {
    const hn::Vec<Floats> weight[] = {load_as_float(weights[column] + k)...};
    ((sums[i] = hn::MulAdd(hn::LoadU(d, x[i % rows] + k), weight[i / rows], sums[i])), ...);
  }
  ((results[i] = hn::GetLane(hn::SumOfLanes(d, sums[i]))), ...);
  for (; k < depth; ++k) {
    for (int index = 0; index < rows * columns; ++index) {
      results[index] += x[index % rows][k] * static_cast<float>(weights[index / rows][k]);
    }
  }
}

// Activations as floats: where they lie, or rounded by round_rows.
struct Activations {
  const std::byte* data;
  std::int64_t stride;

  Activations(const Gemm& gemm, const std::byte* rounded)
      : data(gemm.right.dtype == DType::f32 ? gemm.left.data : rounded),
        stride(gemm.right.dtype == DType::f32 ? gemm.left.width_stride
                                              : gemm.depth * static_cast<std::int64_t>(sizeof(float))) {}
  const float* row(std::int64_t index) const { return reinterpret_cast<const float*>(data + index * stride); }
};

// The rows from `row` on of the columns from `begin` on. Columns past the end repeat the last one and are not stored.
template <class Element, int rows>
void dot_at(const Gemm& gemm, const Activations& activations, std::int64_t row, std::int64_t begin, std::int64_t end) {
  constexpr int columns = dot_tile_columns<rows>;
  const float* x[rows];
  for (int i = 0; i < rows; ++i) x[i] = activations.row(row + i);
  const Element* weights[columns];
  for (int j = 0; j < columns; ++j) {
    weights[j] =
        reinterpret_cast<const Element*>(gemm.right.data + std::min(begin + j, end - 1) * gemm.right.width_stride);
  }
  float results[rows * columns];
  dot_tile(x, weights, gemm.depth, results, std::make_index_sequence<rows * columns>(),
           std::make_index_sequence<columns>());
  for (std::int64_t j = 0; j < std::min<std::int64_t>(columns, end - begin); ++j) {
    const float bias = gemm.bias == nullptr ? 0.0f : gemm.bias[begin + j];
    for (int i = 0; i < rows; ++i) gemm.out[(row + i) * gemm.out_stride + begin + j] = results[j * rows + i] + bias;
  }
}

template <class Element, int rows>
void dot_columns(const Gemm& gemm, const Activations& activations, std::int64_t row, std::int64_t begin,
                 std::int64_t end) {
  for (std::int64_t column = begin; column < end; column += dot_tile_columns<rows>) {
    dot_at<Element, rows>(gemm, activations, row, column, end);
  }
}

// Rows go by fours, each over columns whose weights the next four find in the cache.
template <class Element>
void dot_columns_of(const Gemm& gemm, const std::byte* rounded, std::int64_t begin, std::int64_t end) {
  using Columns = void (*)(const Gemm&, const Activations&, std::int64_t, std::int64_t, std::int64_t);
  constexpr Columns by_rows[] = {dot_columns<Element, 1>, dot_columns<Element, 2>, dot_columns<Element, 3>,
                                 dot_columns<Element, 4>};
  constexpr std::int64_t most = std::size(by_rows);
  const Activations activations(gemm, rounded);
  for (std::int64_t row = 0; row < gemm.rows; row += most) {
    by_rows[std::min(most, gemm.rows - row) - 1](gemm, activations, row, begin, end);
  }
}

// There and back through a buffer that stays in the first-level cache.
template <class Small>
void round_through(const float* x, float* rounded, std::int64_t count, RowScale scale) {
  constexpr std::int64_t most = 512;
  Small buffer[most];
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t some = std::min(most, count - i);
    float* to = rounded + i;
    for (std::int64_t k = 0; k < some; ++k) to[k] = x[i + k] * scale.to_halves;
    convert_stretch(to, buffer, some);
    convert_stretch(buffer, to, some);
    for (std::int64_t k = 0; k < some; ++k) to[k] *= scale.from_halves;
  }
}

void round_stretch(DType weight_type, const float* x, float* rounded, std::int64_t count) {
  if (weight_type == DType::bf16) return round_through<BFloat16>(x, rounded, count, {});
  round_through<Half>(x, rounded, count, half_row_scale(largest_finite_magnitude(x, count)));
}

void round_rows(const Gemm& gemm, std::byte* rounded) {
  if (gemm.right.dtype == DType::f32) return;
  for (std::int64_t row = 0; row < gemm.rows; ++row) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    round_stretch(gemm.right.dtype, x, reinterpret_cast<float*>(rounded) + row * gemm.depth, gemm.depth);
  }
}

void columns(const Gemm& gemm, const std::byte* rounded, std::int64_t begin, std::int64_t end) {
  switch (gemm.right.dtype) {
    case DType::f16: return dot_columns_of<Half>(gemm, rounded, begin, end);
    case DType::bf16: return dot_columns_of<BFloat16>(gemm, rounded, begin, end);
    default: return dot_columns_of<float>(gemm, rounded, begin, end);
  }
}

constexpr DotProduct product = {round_rows, columns};

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const PerTarget<const DotProduct*> gemm_dot = INGOT_SIMD_ENTRIES(product);
const PerTarget<RoundFunction> round_activations = INGOT_SIMD_ENTRIES(round_stretch);
const PerTarget<MagnitudeFunction> largest_finite = INGOT_SIMD_ENTRIES(largest_finite_magnitude);
}  // namespace ingot
#endif
