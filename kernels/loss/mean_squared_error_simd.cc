// Vector mean squared error. A reduced loss is summed a row at a time in vectors, and rows are added in order in
// double.
#include "kernels/loss/mean_squared_error.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loss/mean_squared_error_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

double squared_distance(const float* x, const float* target, std::int64_t length) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    const auto first = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, target + i));
    const auto second = hn::Sub(hn::LoadU(d, x + i + lanes), hn::LoadU(d, target + i + lanes));
    even = hn::MulAdd(first, first, even);
    odd = hn::MulAdd(second, second, odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < length; ++i) {
    const double difference = double{x[i]} - target[i];
    sum += difference * difference;
  }
  return sum;
}

void squared_distances(const float* x, const float* target, float* loss, std::int64_t length) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    const auto difference = hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, target + i));
    hn::StoreU(hn::Mul(difference, difference), d, loss + i);
  }
  for (; i < length; ++i) loss[i] = (x[i] - target[i]) * (x[i] - target[i]);
}

void mean_squared_error(const MeanSquaredError::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows target(a.target);
  double* sums = reinterpret_cast<double*>(context.scratch.data());
  const std::int64_t chunk = rows_per_chunk(x.length() * static_cast<std::int64_t>(2 * sizeof(float)));
  context.workers.for_chunks(x.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      if (a.reduction == Reduction::none) {
        squared_distances(x[row], target[row], Rows(a.loss)[row], x.length());
      } else {
        sums[row] = squared_distance(x[row], target[row], x.length());
      }
    }
  });
  if (a.reduction == Reduction::none) return;
  double sum = 0;
  for (std::int64_t row = 0; row < x.count(); ++row) sum += sums[row];
  a.loss(0) = static_cast<float>(a.reduction == Reduction::mean ? sum / static_cast<double>(a.x.count()) : sum);
}

// Writes slope (x - target), or its negative where sign is -1; slope comes from a row where each element has its own.
void difference_row(const float* x, const float* target, float slope, const float* slopes, float factor, float* out,
                    std::int64_t length) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto fixed = hn::Set(d, slope * factor);
  const auto scale = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    const auto own = slopes == nullptr ? fixed : hn::Mul(scale, hn::LoadU(d, slopes + i));
    hn::StoreU(hn::Mul(own, hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, target + i))), d, out + i);
  }
  for (; i < length; ++i) out[i] = (slopes == nullptr ? slope : slopes[i]) * factor * (x[i] - target[i]);
}

void mean_squared_error_backward(const MeanSquaredErrorBackward::Arguments& a, Context& context) {
  const Rows x(a.x);
  const Rows target(a.target);
  const Rows dx(a.dx);
  const bool is_elementwise = a.reduction == Reduction::none;
  const double divisor = a.reduction == Reduction::mean ? static_cast<double>(a.x.count()) : 1;
  const float slope = is_elementwise ? 0.0f : static_cast<float>(a.dloss(0) / divisor);
  const std::int64_t chunk = rows_per_chunk(x.length() * static_cast<std::int64_t>(3 * sizeof(float)));
  context.workers.for_chunks(x.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* slopes = is_elementwise ? Rows(a.dloss)[row] : nullptr;
      difference_row(x[row], target[row], slope, slopes, 2.0f, dx[row], x.length());
      if (is_present(a.dtarget)) {
        difference_row(x[row], target[row], slope, slopes, -2.0f, Rows(a.dtarget)[row], x.length());
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<MeanSquaredError> mean_squared_error_simd = INGOT_SIMD_ENTRIES(mean_squared_error);
const SimdEntries<MeanSquaredErrorBackward> mean_squared_error_backward_simd =
    INGOT_SIMD_ENTRIES(mean_squared_error_backward);
}  // namespace ingot
#endif
