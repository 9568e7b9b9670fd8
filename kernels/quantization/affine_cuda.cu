#include "kernels/quantization/affine_cuda.h"

#include "kernels/device/block.h"
#include "kernels/device/groups.h"
#include "kernels/quantization/affine_code.h"

namespace ingot::device {
namespace {

template <class Code>
struct Channel {
  float scale;
  int zero_point;
};

template <class Code>
INGOT_ON_DEVICE Channel<Code> channel_at(const AffineRows& parameters, std::uint32_t row, std::uint32_t element) {
  std::uint32_t channel = 0;
  if (parameters.channel_of == ChannelOf::row) channel = row % parameters.channels;
  if (parameters.channel_of == ChannelOf::element) channel = element;
  const auto* const zero_points = reinterpret_cast<const Code*>(parameters.zero_points);
  return {parameters.scales[channel], zero_points == nullptr ? 0 : zero_points[channel]};
}

template <class Code>
INGOT_ON_DEVICE void quantize_group(const AffineRows& parameters, std::uint32_t row, std::uint32_t at) {
  const std::uint32_t length = parameters.x.length;
  auto* const y = reinterpret_cast<Code*>(parameters.y.row(row));
  float values[group_floats];
  load_group(values, reinterpret_cast<const float*>(parameters.x.row(row)), at, length, parameters.is_aligned);
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    if (at + i >= length) return;
    const Channel<Code> channel = channel_at<Code>(parameters, row, at + i);
    y[at + i] = affine_code<Code>(values[i], channel.scale, channel.zero_point);
  }
}

template <class Code>
INGOT_ON_DEVICE void dequantize_group(const AffineRows& parameters, std::uint32_t row, std::uint32_t at) {
  const std::uint32_t length = parameters.x.length;
  const auto* const x = reinterpret_cast<const Code*>(parameters.x.row(row));
  float values[group_floats];
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    values[i] = 0;
    if (at + i >= length) continue;
    const Channel<Code> channel = channel_at<Code>(parameters, row, at + i);
    values[i] = affine_value(x[at + i], channel.scale, channel.zero_point);
  }
  store_group(values, reinterpret_cast<float*>(parameters.y.row(row)), at, length, parameters.is_aligned);
}

}  // namespace

INGOT_DEVICE_FUNCTION(quantize_affine, AffineRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    if (parameters.has_sign) return quantize_group<std::int8_t>(parameters, row, group_floats * group);
    quantize_group<std::uint8_t>(parameters, row, group_floats * group);
  });
}

INGOT_DEVICE_FUNCTION(dequantize_affine, AffineRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    if (parameters.has_sign) return dequantize_group<std::int8_t>(parameters, row, group_floats * group);
    dequantize_group<std::uint8_t>(parameters, row, group_floats * group);
  });
}

INGOT_DEVICE_FUNCTION(clear_dynamic_range, DynamicRangeRows, 32) {
  if (thread_index() < 2) parameters.range[thread_index()] = 0;
}

// The greatest of all blocks does not depend on which comes first.
INGOT_DEVICE_FUNCTION(find_dynamic_range, DynamicRangeRows, 256) {
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    float values[group_floats];
    load_group(values, parameters.x.row(row), group_floats * group, parameters.x.length, parameters.is_aligned);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      if (!is_finite(values[i])) continue;
      if (values[i] < 0) below = Greatest{}(below, bits_of(-values[i]));
      if (values[i] > 0) above = Greatest{}(above, bits_of(values[i]));
    }
  });
  below = block_maximum(below);
  above = block_maximum(above);
  if (thread_index() != 0) return;
  atomic_maximum(parameters.range, below);
  atomic_maximum(parameters.range + 1, above);
}

INGOT_DEVICE_FUNCTION(make_dynamic_scale, DynamicRangeRows, 32) {
  if (thread_index() != 0) return;
  const DynamicScale made = dynamic_scale({-float_of_bits(parameters.range[0]), float_of_bits(parameters.range[1])});
  *parameters.scale = made.scale;
  *parameters.zero_point = made.zero_point;
}

}  // namespace ingot::device
