#include "kernels/norm/batch_norm_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/norm/batch_norm.h"
#include "kernels/norm/group_norm.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(batch_norm_cuda);
INGOT_DEVICE_FUNCTION_OF(batch_norm_cuda, batch_norm_rows);

// The channels of all images as rows: the tensor is contiguous.
Shape channel_rows(const BatchNorm::Arguments& a) {
  const ChannelLayout layout(a.x.shape());
  return {layout.images * layout.channels, layout.positions};
}

void run_batch_norm(const BatchNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const Shape shape = channel_rows(a);
  const View<const float> x(a.x.data(), shape);
  const View<float> y(a.y.data(), shape);
  const auto length = static_cast<std::uint32_t>(shape[1]);
  const BatchNormRows rows = {.x = x.data(),
                              .y = y.data(),
                              .gamma = a.gamma.data(),
                              .beta = a.beta.data(),
                              .mean = a.mean.data(),
                              .variance = a.variance.data(),
                              .groups = RowGroups(static_cast<std::uint32_t>(shape[0]), (length + 3) / 4),
                              .length = length,
                              .channels = static_cast<std::uint32_t>(a.x.size(1)),
                              .epsilon = a.epsilon,
                              .is_aligned = groups_are_aligned(x) && groups_are_aligned(y)};
  context.queue->launch(batch_norm_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                        rows);
}

}  // namespace

constinit const Variant<BatchNorm> batch_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_batch_norm,
    .accepts = [](const BatchNorm::Arguments& a) { return fits_device(a.x.shape()) && fits_device(channel_rows(a)); },
    .device_function = &batch_norm_rows_function};

}  // namespace ingot
