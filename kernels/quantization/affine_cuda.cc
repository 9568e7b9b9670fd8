#include "kernels/quantization/affine_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dynamic_quantize.h"
#include "kernels/quantization/per_channel.h"
#include "kernels/quantization/per_tensor.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(affine_cuda);
INGOT_DEVICE_FUNCTION_OF(affine_cuda, quantize_affine);
INGOT_DEVICE_FUNCTION_OF(affine_cuda, dequantize_affine);
INGOT_DEVICE_FUNCTION_OF(affine_cuda, clear_dynamic_range);
INGOT_DEVICE_FUNCTION_OF(affine_cuda, find_dynamic_range);
INGOT_DEVICE_FUNCTION_OF(affine_cuda, make_dynamic_scale);

// Rows of codes beside rows of floats, either way.
AffineRows affine_rows(const ConstAnyView& x, const AnyView& y, const View<const float>& scale,
                       const ConstAnyView& zero_point) {
  const bool quantizes = x.dtype() == DType::f32;
  const ConstAnyView floats = quantizes ? x : ConstAnyView(y);
  const DType codes = quantizes ? y.dtype() : x.dtype();
  AffineRows rows;
  rows.x = device_rows(byte_view(x));
  rows.y = device_rows(byte_view(y));
  rows.scales = scale.data();
  rows.zero_points = is_present(zero_point) ? zero_point.data() : nullptr;
  rows.groups = RowGroups(rows.x.count, (rows.x.length + 3) / 4);
  rows.channels = 1;
  rows.channel_of = ChannelOf::tensor;
  rows.has_sign = codes == DType::i8;
  rows.is_aligned = groups_are_aligned(floats.as<const float>());
  return rows;
}

// Around the channel axis a contiguous tensor is [outer, channels, inner]: rows are what shares a channel, unless that
// is a single element.
Shape rows_of_channels(const Shape& shape, int axis) {
  const ChannelShape split = channel_shape(shape, axis);
  if (split.inner == 1) return {split.outer, split.channels};
  return {split.outer * split.channels, split.inner};
}

template <class Arguments>
AffineRows channel_rows(const Arguments& a) {
  const Shape shape = rows_of_channels(a.x.shape(), a.axis);
  AffineRows rows = affine_rows(
      ConstAnyView(reinterpret_cast<const std::byte*>(a.x.data()), ConstAnyView(a.x).dtype(), shape),
      AnyView(reinterpret_cast<std::byte*>(a.y.data()), AnyView(a.y).dtype(), shape), a.scale, a.zero_point);
  rows.channels = static_cast<std::uint32_t>(a.x.size(a.axis));
  rows.channel_of = channel_shape(a.x.shape(), a.axis).inner == 1 ? ChannelOf::element : ChannelOf::row;
  return rows;
}

void launch_affine(Queue& queue, const DeviceFunction& function, const AffineRows& rows) {
  queue.launch(function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

void run_quantize_per_tensor(const QuantizePerTensor::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_affine(*context.queue, quantize_affine_function, affine_rows(a.x, a.y, a.scale, a.zero_point));
}

void run_dequantize_per_tensor(const DequantizePerTensor::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_affine(*context.queue, dequantize_affine_function, affine_rows(a.x, a.y, a.scale, a.zero_point));
}

void run_quantize_per_channel(const QuantizePerChannel::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_affine(*context.queue, quantize_affine_function, channel_rows(a));
}

void run_dequantize_per_channel(const DequantizePerChannel::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  launch_affine(*context.queue, dequantize_affine_function, channel_rows(a));
}

// The range of all, then scale and zero point, then codes.
void run_dynamic_quantize(const DynamicQuantize::Arguments& a, Context& context) {
  const DeviceRows<const float> x = device_rows(a.x);
  const DynamicRangeRows range = {.x = x,
                                  .groups = RowGroups(x.count, (x.length + 3) / 4),
                                  .range = reinterpret_cast<std::uint32_t*>(context.scratch.data()),
                                  .scale = a.scale.data(),
                                  .zero_point = a.zero_point.data(),
                                  .is_aligned = groups_are_aligned(a.x)};
  context.queue->launch(clear_dynamic_range_function, {.blocks = 1, .threads = 32}, range);
  if (!a.x.empty()) {
    context.queue->launch(find_dynamic_range_function, {.blocks = range.groups.blocks(), .threads = RowGroups::threads},
                          range);
  }
  context.queue->launch(make_dynamic_scale_function, {.blocks = 1, .threads = 32}, range);
  if (a.x.empty()) return;
  launch_affine(*context.queue, quantize_affine_function, affine_rows(a.x, a.y, a.scale, a.zero_point));
}

template <class Arguments>
bool channels_fit(const Arguments& a) {
  return fits_device(a.x.shape()) && fits_device(rows_of_channels(a.x.shape(), a.axis));
}

}  // namespace

constinit const Variant<QuantizePerTensor> quantize_per_tensor_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_quantize_per_tensor,
    .accepts = [](const QuantizePerTensor::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &quantize_affine_function};

constinit const Variant<DequantizePerTensor> dequantize_per_tensor_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_dequantize_per_tensor,
    .accepts = [](const DequantizePerTensor::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &dequantize_affine_function};

constinit const Variant<QuantizePerChannel> quantize_per_channel_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_quantize_per_channel,
    .accepts = channels_fit<QuantizePerChannel::Arguments>,
    .device_function = &quantize_affine_function};

constinit const Variant<DequantizePerChannel> dequantize_per_channel_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_dequantize_per_channel,
    .accepts = channels_fit<DequantizePerChannel::Arguments>,
    .device_function = &dequantize_affine_function};

constinit const Variant<DynamicQuantize> dynamic_quantize_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_dynamic_quantize,
    .accepts = [](const DynamicQuantize::Arguments& a) { return fits_device(a.x.shape()); },
    .scratch_bytes = [](const DynamicQuantize::Arguments&, int) { return 2 * sizeof(std::uint32_t); },
    .device_function = &find_dynamic_range_function};

}  // namespace ingot
