// Vector learned positions: two rows added, so a row is read, added and written at the speed of memory.
#include "kernels/position/learned.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/position/learned_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void add_rows(const float* x, const float* row, float* y, std::int64_t width) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, row + i)), d, y + i);
  for (; i < width; ++i) y[i] = x[i] + row[i];
}

void learned(const Learned::Arguments& a, Context& context) {
  const std::int64_t width = a.x.size(1);
  if (width == 0) return;
  context.workers.for_chunks(a.x.size(0), rows_per_chunk(width * static_cast<std::int64_t>(3 * sizeof(float))),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t token = begin; token < end; ++token) {
                                 add_rows(&a.x(token, 0), &a.table(a.positions(token), 0), &a.y(token, 0), width);
                               }
                             });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Learned> learned_simd = INGOT_SIMD_ENTRIES(learned);
}  // namespace ingot
#endif
