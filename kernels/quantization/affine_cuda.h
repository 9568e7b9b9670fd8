// What launches of the device functions of affine codes are told: quantization per tensor, per channel and dynamic.
#pragma once

#include <cstddef>

#include "kernels/device/row_groups.h"
#include "kernels/device/rows.h"

namespace ingot {

// Which scale and zero point an element has.
enum class ChannelOf : std::uint8_t {
  tensor,   // the first, for all
  row,      // of the row, counted modulo the channels
  element,  // of the place in the row
};

struct AffineRows {
  DeviceRows<const std::byte> x;  // floats or codes
  DeviceRows<std::byte> y;
  const float* scales;
  const std::byte* zero_points;  // of the codes' type; null: zeros
  RowGroups groups;              // of four elements
  std::uint32_t channels;
  ChannelOf channel_of;
  bool has_sign;    // codes are i8, otherwise u8
  bool is_aligned;  // rows of floats are at multiples of 16 bytes, and of four elements
};

struct DynamicRangeRows {
  DeviceRows<const float> x;
  RowGroups groups;      // of four elements
  std::uint32_t* range;  // the bits of -low and of high: both are 0 or more, and order as their bits do
  float* scale;
  std::uint8_t* zero_point;
  bool is_aligned;
};

}  // namespace ingot
