// Vector log-softmax: maximum, sum of exponentials, subtraction; the row stays in cache between the passes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/softmax/log_softmax.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/softmax/log_softmax_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

float largest(const float* x, std::int64_t length) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float lowest = -std::numeric_limits<float>::infinity();
  auto maximum = hn::Set(d, lowest);
  for (std::int64_t i = 0; i < length; i += lanes) maximum = hn::Max(maximum, load_some(d, x + i, length - i, lowest));
  return hn::GetLane(hn::MaxOfLanes(d, maximum));
}

void log_softmax(const LogSoftmax::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows y(a.y);
  const std::int64_t length = x.length();
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t row = begin; row < end; ++row) {
      const float* from = x[row];
      float* to = y[row];
      const float taken = taken_out(largest(from, length));
      const float sum = exponentials(from, nullptr, length, taken);
      // Two subtractions: the maximum leaves exactly where it is close, and only then the small logarithm.
      const auto first = hn::Set(d, taken);
      const auto second = hn::Set(d, sum == 0 ? 0.0f : std::log(sum));
      for (std::int64_t i = 0; i < length; i += lanes) {
        const auto value = load_some(d, from + i, length - i, 0.0f);
        store_some(d, hn::Sub(hn::Sub(value, first), second), to + i, length - i);
      }
    }
  });
}

void log_softmax_backward(const LogSoftmaxBackward::Arguments& a, Context& context) {
  const Rows y(a.y);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  const std::int64_t length = y.length();
  const auto row_bytes = length * static_cast<std::int64_t>(3 * sizeof(float));
  context.workers.for_chunks(y.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t row = begin; row < end; ++row) {
      const float* logarithms = y[row];
      const float* from = dy[row];
      float* to = dx[row];
      const auto sum = hn::Set(d, sum_of_products(from, nullptr, length));
      for (std::int64_t i = 0; i < length; i += lanes) {
        const auto weight = exp_of(d, load_some(d, logarithms + i, length - i, 0.0f));
        const auto gradient = load_some(d, from + i, length - i, 0.0f);
        store_some(d, hn::NegMulAdd(weight, sum, gradient), to + i, length - i);
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<LogSoftmax> log_softmax_simd = INGOT_SIMD_ENTRIES(log_softmax);
const SimdEntries<LogSoftmaxBackward> log_softmax_backward_simd = INGOT_SIMD_ENTRIES(log_softmax_backward);
}  // namespace ingot
#endif
