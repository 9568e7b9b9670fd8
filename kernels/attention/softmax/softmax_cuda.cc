#include "kernels/attention/softmax/softmax_cuda.h"

#include <algorithm>

#include "kernels/attention/softmax/log_softmax.h"
#include "kernels/attention/softmax/softmax.h"
#include "kernels/device/row_launch.h"
#include "kernels/device/windows.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(softmax_cuda);
INGOT_DEVICE_FUNCTION_OF(softmax_cuda, softmax_warps);
INGOT_DEVICE_FUNCTION_OF(softmax_cuda, softmax_blocks);
INGOT_DEVICE_FUNCTION_OF(softmax_cuda, softmax_large_blocks);
INGOT_DEVICE_FUNCTION_OF(softmax_cuda, softmax_large);
INGOT_DEVICE_FUNCTION_OF(softmax_cuda, softmax_long);

void launch_softmax(Queue& queue, SoftmaxRows rows) {
  rows.is_plain = rows.is_aligned && !rows.is_causal && rows.mask.data == nullptr;
  launch_rows(queue,
              {softmax_warps_function, softmax_blocks_function, softmax_large_blocks_function, softmax_large_function,
               softmax_long_function},
              rows.x.count, rows.x.length, rows.is_plain, rows);
}

// A row of no columns still has a log-sum-exp.
void run_softmax(const Softmax::Arguments& a, Context& context) {
  const Shape row_shape = shape_of_rows(a.x.shape());
  if (element_count(row_shape) == 0) return;
  const bool is_masked = is_present(a.mask);
  const View<const float> mask = is_masked ? a.mask.broadcast_to(a.x.shape()).value() : View<const float>();
  const bool mask_is_aligned = !is_masked || mask.strides().last() == 0 || groups_are_aligned(mask);
  launch_softmax(
      *context.queue,
      {.x = device_rows(a.x),
       .mask = is_masked ? device_rows(mask) : DeviceRows<const float>(),
       .sinks =
           is_present(a.sinks) ? device_tensor(a.sinks.broadcast_to(row_shape).value()) : DeviceTensor<const float>(),
       .y = device_rows(a.y),
       .log_sum_exp = a.log_sum_exp.data(),
       .queries = static_cast<std::uint32_t>(a.x.rank() >= 2 ? std::max<std::int64_t>(a.x.shape().last(1), 1) : 1),
       .query_offset = a.query_offset,
       .scale = a.scale,
       .is_causal = a.mask_kind == MaskKind::causal,
       .is_logarithm = false,
       .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y) && mask_is_aligned,
       .is_plain = false});
}

void run_log_softmax(const LogSoftmax::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_softmax(*context.queue, {.x = device_rows(a.x),
                                  .mask = {},
                                  .sinks = {},
                                  .y = device_rows(a.y),
                                  .log_sum_exp = nullptr,
                                  .queries = 1,
                                  .query_offset = 0,
                                  .scale = 1,
                                  .is_causal = false,
                                  .is_logarithm = true,
                                  .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.y),
                                  .is_plain = false});
}

}  // namespace

constinit const Variant<Softmax> softmax_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_softmax,
    .accepts =
        [](const Softmax::Arguments& a) { return fits_device(a.x.shape()) && fits_device(shape_of_rows(a.x.shape())); },
    .device_function = &softmax_warps_function};

constinit const Variant<LogSoftmax> log_softmax_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_log_softmax,
    .accepts = [](const LogSoftmax::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &softmax_warps_function};

}  // namespace ingot
