#include <cmath>

#include "kernels/norm/batch_norm.h"
#include "kernels/norm/group_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/batch_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/channel_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void batch_norm(const BatchNorm::Arguments& a, Context& context) {
  const ChannelLayout layout(a.x.shape());
  const std::int64_t length = layout.positions;
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t channel = row % layout.channels;
      const auto rstd = static_cast<float>(1 / std::sqrt(double{a.variance(channel)} + double{a.epsilon}));
      const CenteredChannel function = {a.mean(channel), a.gamma(channel) * rstd, a.beta(channel)};
      map_stretch<1, 1>({a.x.data() + row * length}, {a.y.data() + row * length}, length, function);
    }
  };
  const auto row_bytes = length * static_cast<std::int64_t>(2 * sizeof(float));
  context.workers.for_chunks(layout.images * layout.channels, rows_per_chunk(row_bytes), run);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<BatchNorm> batch_norm_simd = INGOT_SIMD_ENTRIES(batch_norm);
}  // namespace ingot
#endif
