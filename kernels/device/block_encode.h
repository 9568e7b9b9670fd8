// Encoders of single blocks on a device: the formats whose rounding is fixed, float operation by float operation, by
// tensor/block_encode_32.cc. A thread has a block: what it reads is one line of memory.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/numbers.h"
#include "tensor/block_encode.h"

namespace ingot::device {

inline constexpr unsigned encoded_elements = 32;

// A block of a row of numbers; zeros beyond its length.
INGOT_ON_DEVICE void load_block(float (&values)[encoded_elements], const float* row, std::uint32_t block,
                                std::uint32_t length, bool is_aligned) {
  INGOT_UNROLL
  for (unsigned i = 0; i < encoded_elements; i += group_floats) {
    float group[group_floats];
    load_group(group, row, encoded_elements * block + i, length, is_aligned);
    INGOT_UNROLL
    for (unsigned j = 0; j < group_floats; ++j) values[i + j] = group[j];
  }
}

// The value of largest magnitude, with its sign; the first of equals. NaN never wins a comparison.
INGOT_ON_DEVICE float signed_extreme(const float (&values)[encoded_elements]) {
  float magnitude = 0;
  float extreme = 0;
  INGOT_UNROLL
  for (unsigned j = 0; j < encoded_elements; ++j) {
    if (absolute(values[j]) > magnitude) {
      magnitude = absolute(values[j]);
      extreme = values[j];
    }
  }
  return extreme;
}

struct ValueRange {
  float lowest, highest;
};
INGOT_ON_DEVICE ValueRange range_of(const float (&values)[encoded_elements]) {
  ValueRange range = {infinity, -infinity};
  INGOT_UNROLL
  for (unsigned j = 0; j < encoded_elements; ++j) {
    if (values[j] < range.lowest) range.lowest = values[j];
    if (values[j] > range.highest) range.highest = values[j];
  }
  return range;
}

INGOT_ON_DEVICE float inverse_or_zero(float scale) { return scale != 0 ? 1.0f / scale : 0.0f; }

// The low four bits of 32 codes, and their fifth where the format has one.
template <class Block, class Code>
INGOT_ON_DEVICE void pack_codes(Block& block, Code&& code) {
  INGOT_UNROLL
  for (unsigned j = 0; j < 16; ++j) {
    block.low[j] = static_cast<std::uint8_t>((code(j) & 15) | (code(j + 16) & 15) << 4);
  }
  if constexpr (requires { block.high; }) {
    INGOT_UNROLL
    for (unsigned byte = 0; byte < 4; ++byte) {
      int bits = 0;
      INGOT_UNROLL
      for (unsigned bit = 0; bit < 8; ++bit) bits |= (code(8 * byte + bit) >> 4 & 1) << bit;
      block.high[byte] = static_cast<std::uint8_t>(bits);
    }
  }
}

// q4_0 and q5_0: the extreme becomes code 0, the only one of magnitude `half`.
template <class Block>
INGOT_ON_DEVICE void encode_around_zero(const float (&values)[encoded_elements], Block& block, int half) {
  const float scale = signed_extreme(values) / static_cast<float>(-half);
  const float inverse = inverse_or_zero(scale);
  const float shift = static_cast<float>(half) + 0.5f;
  block.scale.set(scale);
  pack_codes(block, [&](unsigned j) { return truncated_code(values[j] * inverse + shift, 2 * half - 1); });
}
// q4_1 and q5_1
template <class Block>
INGOT_ON_DEVICE void encode_above_base(const float (&values)[encoded_elements], Block& block, int highest) {
  const ValueRange range = range_of(values);
  const float scale = (range.highest - range.lowest) / static_cast<float>(highest);
  const float inverse = inverse_or_zero(scale);
  block.scale.set(scale);
  block.base.set(range.lowest);
  pack_codes(block, [&](unsigned j) { return truncated_code((values[j] - range.lowest) * inverse + 0.5f, highest); });
}

INGOT_ON_DEVICE void encode_block(const float (&values)[encoded_elements], BlockQ4_0& block) {
  encode_around_zero(values, block, 8);
}
INGOT_ON_DEVICE void encode_block(const float (&values)[encoded_elements], BlockQ5_0& block) {
  encode_around_zero(values, block, 16);
}
INGOT_ON_DEVICE void encode_block(const float (&values)[encoded_elements], BlockQ4_1& block) {
  encode_above_base(values, block, 15);
}
INGOT_ON_DEVICE void encode_block(const float (&values)[encoded_elements], BlockQ5_1& block) {
  encode_above_base(values, block, 31);
}
INGOT_ON_DEVICE void encode_block(const float (&values)[encoded_elements], BlockQ8_0& block) {
  const float scale = absolute(signed_extreme(values)) / 127;
  const float inverse = inverse_or_zero(scale);
  block.scale.set(scale);
  INGOT_UNROLL
  for (unsigned j = 0; j < encoded_elements; ++j) {
    const float scaled = values[j] * inverse;
    const float magnitude = absolute(scaled);
    const int whole = truncated_code(magnitude, 127);
    const int rounded = whole + (whole < 127 && magnitude - static_cast<float>(whole) >= 0.5f ? 1 : 0);
    block.codes[j] = static_cast<std::int8_t>(scaled < 0 ? -rounded : rounded);
  }
}

}  // namespace ingot::device
