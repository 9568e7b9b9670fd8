#include <cmath>

#include "kernels/optimizer/global_norm.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/global_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Four accumulators hide the latency of the add.
double sum_of_squares(const float* x, std::int64_t length) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes) {
    const auto x0 = hn::PromoteTo(d, hn::LoadU(narrow, x + i));
    const auto x1 = hn::PromoteTo(d, hn::LoadU(narrow, x + i + lanes));
    const auto x2 = hn::PromoteTo(d, hn::LoadU(narrow, x + i + 2 * lanes));
    const auto x3 = hn::PromoteTo(d, hn::LoadU(narrow, x + i + 3 * lanes));
    sum0 = hn::MulAdd(x0, x0, sum0);
    sum1 = hn::MulAdd(x1, x1, sum1);
    sum2 = hn::MulAdd(x2, x2, sum2);
    sum3 = hn::MulAdd(x3, x3, sum3);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; i < length; ++i) sum += double{x[i]} * x[i];
  return sum;
}

void global_norm(const GlobalNorm::Arguments& a, Context& context) {
  const Segments segments(std::array{a.x});
  const Rows rows(a.x);
  auto* sums = reinterpret_cast<double*>(context.scratch.data());
  context.workers.for_chunks(segments.count(), segments.per_chunk(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t segment = begin; segment < end; ++segment) {
      sums[segment] = sum_of_squares(segments.start(a.x, rows, segment), segments.length(segment));
    }
  });
  double sum = 0;
  for (std::int64_t segment = 0; segment < segments.count(); ++segment) sum += sums[segment];
  a.norm(0) = static_cast<float>(std::sqrt(sum));
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<GlobalNorm> global_norm_simd = INGOT_SIMD_ENTRIES(global_norm);
}  // namespace ingot
#endif
