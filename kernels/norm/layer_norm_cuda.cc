#include "kernels/norm/layer_norm_cuda.h"

#include "kernels/device/row_launch.h"
#include "kernels/device/windows.h"
#include "kernels/norm/group_norm.h"
#include "kernels/norm/layer_norm.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(layer_norm_cuda);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, layer_norm_warps);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, layer_norm_blocks);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, layer_norm_large_blocks);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, layer_norm_large);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, layer_norm_long);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, group_norm_warps);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, group_norm_blocks);
INGOT_DEVICE_FUNCTION_OF(layer_norm_cuda, group_norm_long);

const RowFunctions by_element = {layer_norm_warps_function, layer_norm_blocks_function,
                                 layer_norm_large_blocks_function, layer_norm_large_function, layer_norm_long_function};
const RowFunctions by_channel = {group_norm_warps_function, group_norm_blocks_function, group_norm_long_function,
                                 group_norm_long_function, group_norm_long_function};

void launch_norm(Queue& queue, const RowFunctions& functions, bool can_be_large, const LayerNormRows& rows) {
  launch_rows(queue, functions, rows.x.count, rows.x.length, can_be_large, rows);
}

bool is_absent_or_aligned(const View<const float>& view) { return !is_present(view) || groups_are_aligned(view); }

void run_layer_norm(const LayerNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const bool is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y) && is_absent_or_aligned(a.gamma) &&
                          is_absent_or_aligned(a.beta);
  launch_norm(*context.queue, by_element, is_aligned,
              {.x = device_rows(a.x),
               .y = device_rows(a.y),
               .gamma = a.gamma.data(),
               .beta = a.beta.data(),
               .mean = a.mean.data(),
               .rstd = a.rstd.data(),
               .factor = 1 / static_cast<double>(a.x.shape().last()),
               .positions = 0,
               .channels = 0,
               .groups = 0,
               .epsilon = a.epsilon,
               .is_aligned = is_aligned});
}

// The groups of all images as rows: the tensor is contiguous.
Shape group_rows(const GroupNorm::Arguments& a) {
  const ChannelLayout layout(a.x.shape());
  return {layout.images * a.groups, layout.channels / a.groups * layout.positions};
}

void run_group_norm(const GroupNorm::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const ChannelLayout layout(a.x.shape());
  const View<const float> x(a.x.data(), group_rows(a));
  const View<float> y(a.y.data(), group_rows(a));
  launch_norm(*context.queue, by_channel, false,
              {.x = device_rows(x),
               .y = device_rows(y),
               .gamma = a.gamma.data(),
               .beta = a.beta.data(),
               .mean = a.mean.data(),
               .rstd = a.rstd.data(),
               .factor = 1 / static_cast<double>(x.size(1)),
               .positions = static_cast<std::uint32_t>(layout.positions),
               .channels = static_cast<std::uint32_t>(layout.channels / a.groups),
               .groups = static_cast<std::uint32_t>(a.groups),
               .epsilon = a.epsilon,
               .is_aligned = groups_are_aligned(x) && groups_are_aligned(y)});
}

}  // namespace

constinit const Variant<LayerNorm> layer_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_layer_norm,
    .accepts = [](const LayerNorm::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &layer_norm_warps_function};

constinit const Variant<GroupNorm> group_norm_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_group_norm,
    .accepts = [](const GroupNorm::Arguments& a) { return fits_device(a.x.shape()) && fits_device(group_rows(a)); },
    .device_function = &group_norm_warps_function};

}  // namespace ingot
