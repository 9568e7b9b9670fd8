// Column sums: rows pass once through vectors of sums that stay in registers, a strip of columns at a time. Threads
// take strips, so that no sum is ever split.
#include "kernels/linear/matmul/matmul_backward.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/matmul/matmul_backward_bias_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Strips of whole cache lines: 256 floats are 1 KiB of each row.
constexpr std::int64_t strip_columns = 256;

void sum_strip(const View<const float>& dy, const View<float>& dbias, std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t rows = dy.size(0);
  const std::int64_t stride = dy.stride(0);
  const float* first = dy.data();
  float* out = dbias.data();
  std::int64_t column = begin;
  for (; column + 4 * lanes <= end; column += 4 * lanes) {
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* from = first + row * stride + column;
      sum0 = hn::Add(sum0, hn::LoadU(d, from));
      sum1 = hn::Add(sum1, hn::LoadU(d, from + lanes));
      sum2 = hn::Add(sum2, hn::LoadU(d, from + 2 * lanes));
      sum3 = hn::Add(sum3, hn::LoadU(d, from + 3 * lanes));
    }
    hn::StoreU(sum0, d, out + column);
    hn::StoreU(sum1, d, out + column + lanes);
    hn::StoreU(sum2, d, out + column + 2 * lanes);
    hn::StoreU(sum3, d, out + column + 3 * lanes);
  }
  for (; column + lanes <= end; column += lanes) {
    auto sum = hn::Zero(d);
    for (std::int64_t row = 0; row < rows; ++row) sum = hn::Add(sum, hn::LoadU(d, first + row * stride + column));
    hn::StoreU(sum, d, out + column);
  }
  for (; column < end; ++column) {
    float sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += first[row * stride + column];
    out[column] = sum;
  }
}

void matmul_backward_bias(const MatmulBackwardBias::Arguments& arguments, Context& context) {
  context.workers.for_chunks(arguments.dbias.size(0), strip_columns, [&](std::int64_t begin, std::int64_t end, int) {
    sum_strip(arguments.dy, arguments.dbias, begin, end);
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<MatmulBackwardBias> matmul_backward_bias_simd = INGOT_SIMD_ENTRIES(matmul_backward_bias);
}  // namespace ingot
#endif
