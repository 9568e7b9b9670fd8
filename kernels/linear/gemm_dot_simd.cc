// Few rows of activations: weights are read once, as they lie, and each meets all rows while it is in a register. What
// bounds this is memory, so the loop only needs enough sums in flight to keep loads coming.
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

template <class Element, int rows>
void dot_columns(const Gemm& gemm, std::int64_t begin, std::int64_t end) {
  constexpr int vectors = rows == 1 ? 4 : 2;
  const float* x[rows];
  for (int row = 0; row < rows; ++row) {
    x[row] = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
  }
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
void dot_columns_of(const Gemm& gemm, std::int64_t begin, std::int64_t end) {
  using Columns = void (*)(const Gemm&, std::int64_t, std::int64_t);
  constexpr Columns by_rows[] = {dot_columns<Element, 1>, dot_columns<Element, 2>, dot_columns<Element, 3>,
                                 dot_columns<Element, 4>};
  static_assert(std::size(by_rows) == dot_rows);
  by_rows[gemm.rows - 1](gemm, begin, end);
}

void columns(const Gemm& gemm, const std::byte*, std::int64_t begin, std::int64_t end) {
  switch (gemm.right.dtype) {
    case DType::f16: return dot_columns_of<Half>(gemm, begin, end);
    case DType::bf16: return dot_columns_of<BFloat16>(gemm, begin, end);
    default: return dot_columns_of<float>(gemm, begin, end);
  }
}

constexpr DotProduct product = {nullptr, columns};

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const PerTarget<const DotProduct*> gemm_dot = INGOT_SIMD_ENTRIES(product);
}  // namespace ingot
#endif
