// A lane's eight codes of a span of x, 256 elements a warp, and their scale (kernels/vector/activation_codes.h).
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/warp.h"
#include "kernels/linear/cuda/prepared_x_cuda.h"
#include "kernels/vector/activation_codes.h"

namespace ingot::device {

inline constexpr unsigned lane_codes = span_elements / warp_size;
inline constexpr unsigned block_lanes = 32 / lane_codes;  // of a block of 32

struct LaneCodes {
  std::int8_t codes[lane_codes];
  float scale;

  // Of the first four, or of the last.
  INGOT_ON_DEVICE std::uint32_t word(unsigned half) const {
    std::uint32_t result = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      result |= std::uint32_t{static_cast<std::uint8_t>(codes[4 * half + i])} << (8 * i);
    }
    return result;
  }
};

// From element `at` of a row on; zeros beyond the depth. All lanes of the warp take part. Blocks are of 32 or 256.
INGOT_ON_DEVICE LaneCodes encode_lane(const float* row, unsigned at, unsigned depth, unsigned block, bool is_aligned) {
  float x[2][group_floats];
  std::uint32_t largest = 0;
  INGOT_UNROLL
  for (unsigned group = 0; group < 2; ++group) {
    load_group(x[group], row, at + group * group_floats, depth, is_aligned);
    if (at + group * group_floats >= depth) {
      INGOT_UNROLL
      for (unsigned i = 0; i < group_floats; ++i) x[group][i] = 0;
    }
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) largest = Greatest{}(largest, bits_of(x[group][i]) & 0x7fffffffu);
  }
  INGOT_UNROLL
  for (unsigned lanes = 1; lanes < warp_size; lanes *= 2) {
    if (lanes < block_lanes || block == span_elements) largest = Greatest{}(largest, shuffle_xor(largest, lanes));
  }
  const ActivationScale made = activation_scale(largest);
  LaneCodes result;
  result.scale = made.scale;
  INGOT_UNROLL
  for (unsigned i = 0; i < lane_codes; ++i) {
    result.codes[i] = activation_code(x[i / group_floats][i % group_floats], made.inverse);
  }
  return result;
}

}  // namespace ingot::device
