// Few rows of activations: weights are read once, as they lie, and each meets all rows while it is in a register. What
// bounds this is memory, so the loop only needs enough sums in flight to keep loads coming.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/contract/simd_targets.h"
#include "kernels/linear/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/gemm_dot_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/contract/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

// sums[i]: row i / vectors, and every vectors-th vector of it from i % vectors on.
template <class Element, int rows, int vectors, std::size_t... i, std::size_t... v>
HWY_INLINE void dot_rows_with(const float* const (&x)[rows], const Element* weights, std::int64_t depth,
                              float (&results)[rows], std::index_sequence<i...>, std::index_sequence<v...>) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<Floats> sums[] = {(static_cast<void>(i), hn::Zero(d))...};
  std::int64_t k = 0;
  for (; k + vectors * lanes <= depth; k += vectors * lanes) {
    const hn::Vec<Floats> weight[] = {load_as_float(weights + k + static_cast<std::int64_t>(v) * lanes)...};
    ((sums[i] = hn::MulAdd(hn::LoadU(d, x[i / vectors] + k + static_cast<std::int64_t>(i % vectors) * lanes),
                           weight[i % vectors], sums[i])),
     ...);
  }
  for (int row = 0; row < rows; ++row) {
    hn::Vec<Floats> sum = sums[row * vectors];
    for (int vector = 1; vector < vectors; ++vector) sum = hn::Add(sum, sums[row * vectors + vector]);
    float result = hn::GetLane(hn::SumOfLanes(d, sum));
    for (std::int64_t rest = k; rest < depth; ++rest) result += x[row][rest] * static_cast<float>(weights[rest]);
    results[row] = result;
  }
}

// Activations as floats: where they lie, or rounded to bf16 by round_rows.
struct Activations {
  const std::byte* data;
  std::int64_t stride;

  Activations(const Gemm& gemm, const std::byte* rounded)
      : data(gemm.right.dtype == DType::bf16 ? rounded : gemm.left.data),
        stride(gemm.right.dtype == DType::bf16 ? gemm.depth * static_cast<std::int64_t>(sizeof(float))
                                               : gemm.left.width_stride) {}
  const float* row(std::int64_t index) const { return reinterpret_cast<const float*>(data + index * stride); }
};

template <class Element, int rows>
void dot_columns(const Gemm& gemm, const Activations& activations, std::int64_t begin, std::int64_t end) {
  constexpr int vectors = rows == 1 ? 4 : 2;
  const float* x[rows];
  for (int row = 0; row < rows; ++row) x[row] = activations.row(row);
  for (std::int64_t column = begin; column < end; ++column) {
    const auto* weights = reinterpret_cast<const Element*>(gemm.right.data + column * gemm.right.width_stride);
    float results[rows];
    dot_rows_with<Element, rows, vectors>(x, weights, gemm.depth, results, std::make_index_sequence<rows * vectors>(),
                                          std::make_index_sequence<vectors>());
    for (int row = 0; row < rows; ++row) {
      gemm.out[row * gemm.out_stride + column] = results[row] + (gemm.bias == nullptr ? 0.0f : gemm.bias[column]);
    }
  }
}

template <class Element>
void dot_columns_of(const Gemm& gemm, const std::byte* rounded, std::int64_t begin, std::int64_t end) {
  using Columns = void (*)(const Gemm&, const Activations&, std::int64_t, std::int64_t);
  constexpr Columns by_rows[] = {dot_columns<Element, 1>, dot_columns<Element, 2>, dot_columns<Element, 3>,
                                 dot_columns<Element, 4>};
  static_assert(std::size(by_rows) == dot_rows);
  by_rows[gemm.rows - 1](gemm, Activations(gemm, rounded), begin, end);
}

// There and back through a buffer that stays in the first-level cache.
void round_run(const float* x, float* rounded, std::int64_t count) {
  BFloat16 buffer[512];
  for (std::int64_t i = 0; i < count; i += 512) {
    const std::int64_t some = std::min<std::int64_t>(512, count - i);
    convert_run(x + i, buffer, some);
    convert_run(buffer, rounded + i, some);
  }
}

void round_rows(const Gemm& gemm, std::byte* rounded) {
  if (gemm.right.dtype != DType::bf16) return;
  for (std::int64_t row = 0; row < gemm.rows; ++row) {
    const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
    round_run(x, reinterpret_cast<float*>(rounded) + row * gemm.depth, gemm.depth);
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
const PerTarget<RoundFunction> round_to_bf16 = INGOT_SIMD_ENTRIES(round_run);
}  // namespace ingot
#endif
