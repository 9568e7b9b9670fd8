// Two passes: the range of each chunk of rows, then codes. Extremes do not depend on the order they are taken in, and
// chunks come from the shape, so neither does the result.
#include <algorithm>

#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/dynamic_quantize.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantization/dynamic_quantize_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/quantization/affine_codes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

DynamicRange range_of_row(const float* x, std::int64_t length, DynamicRange range) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto low = hn::Set(d, range.low);
  auto high = hn::Set(d, range.high);
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    const auto value = hn::LoadU(d, x + i);
    const auto counted = hn::IfThenElseZero(hn::IsFinite(value), value);  // zero is always inside the range
    low = hn::Min(low, counted);
    high = hn::Max(high, counted);
  }
  range = {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; i < length; ++i) {
    const float counted = x[i] - x[i] == 0 ? x[i] : 0.0f;  // infinity minus itself is NaN
    range = {std::min(range.low, counted), std::max(range.high, counted)};
  }
  return range;
}

void dynamic_quantize(const DynamicQuantize::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows y(arguments.y);
  const std::int64_t length = x.length();
  const std::int64_t chunk = rows_per_chunk(5 * length);
  auto* ranges = reinterpret_cast<DynamicRange*>(context.scratch.data());
  context.workers.for_chunks(x.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    DynamicRange range;
    for (std::int64_t row = begin; row < end; ++row) range = range_of_row(x[row], length, range);
    ranges[begin / chunk] = range;
  });
  DynamicRange range;
  for (std::int64_t index = 0; index < divide_rounding_up(x.count(), chunk); ++index) {
    range = {std::min(range.low, ranges[index].low), std::max(range.high, ranges[index].high)};
  }
  const DynamicScale made = dynamic_scale(range);
  *arguments.scale.data() = made.scale;
  *arguments.zero_point.data() = made.zero_point;
  context.workers.for_chunks(x.count(), chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      quantize_stretch<std::uint8_t>(x[row], made.scale, made.zero_point, y[row], length);
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<DynamicQuantize> dynamic_quantize_simd = INGOT_SIMD_ENTRIES(dynamic_quantize);

std::size_t dynamic_quantize_simd_scratch(const DynamicQuantize::Arguments& arguments, int) {
  const Rows x(arguments.x);
  const std::int64_t chunks = divide_rounding_up(x.count(), rows_per_chunk(5 * x.length()));
  return static_cast<std::size_t>(chunks) * sizeof(DynamicRange);
}
}  // namespace ingot
#endif
