// q4_0, q4_1, q5_0, q5_1 and q8_0: their rounding is fixed, float operation by float operation, because files made
// elsewhere must come out the same to the bit.
#include <cmath>

#include "tensor/block_encode.h"

namespace ingot {
namespace {

// The value of largest magnitude, with its sign; the first of equals. NaN never wins a comparison.
float signed_extreme(const float* values) {
  float magnitude = 0;
  float extreme = 0;
  for (int j = 0; j < 32; ++j) {
    if (std::fabs(values[j]) > magnitude) {
      magnitude = std::fabs(values[j]);
      extreme = values[j];
    }
  }
  return extreme;
}

struct Range {
  float lowest, highest;
};

Range range_of(const float* values) {
  Range range = {HUGE_VALF, -HUGE_VALF};
  for (int j = 0; j < 32; ++j) {
    if (values[j] < range.lowest) range.lowest = values[j];
    if (values[j] > range.highest) range.highest = values[j];
  }
  return range;
}

float inverse_or_zero(float scale) { return scale != 0 ? 1.0f / scale : 0.0f; }

template <class Code>
void pack_low_32(std::uint8_t (&low)[16], Code&& code) {
  for (int j = 0; j < 16; ++j) low[j] = static_cast<std::uint8_t>((code(j) & 15) | (code(j + 16) & 15) << 4);
}

template <class Code>
void pack_fifth_bits(std::uint8_t (&high)[4], Code&& code) {
  for (int byte = 0; byte < 4; ++byte) {
    int bits = 0;
    for (int bit = 0; bit < 8; ++bit) bits |= (code(8 * byte + bit) >> 4 & 1) << bit;
    high[byte] = static_cast<std::uint8_t>(bits);
  }
}

}  // namespace

void encode_block(const float* values, BlockQ4_0& block) {
  const float scale = signed_extreme(values) / -8;  // the extreme becomes code 0, the only one of magnitude 8
  const float inverse = inverse_or_zero(scale);
  block.scale.set(scale);
  pack_low_32(block.low, [&](int j) { return truncated_code(values[j] * inverse + 8.5f, 15); });
}

void encode_block(const float* values, BlockQ4_1& block) {
  const Range range = range_of(values);
  const float scale = (range.highest - range.lowest) / 15;
  const float inverse = inverse_or_zero(scale);
  block.scale.set(scale);
  block.base.set(range.lowest);
  pack_low_32(block.low, [&](int j) { return truncated_code((values[j] - range.lowest) * inverse + 0.5f, 15); });
}

void encode_block(const float* values, BlockQ5_0& block) {
  const float scale = signed_extreme(values) / -16;
  const float inverse = inverse_or_zero(scale);
  const auto code = [&](int j) { return truncated_code(values[j] * inverse + 16.5f, 31); };
  block.scale.set(scale);
  pack_low_32(block.low, code);
  pack_fifth_bits(block.high, code);
}

void encode_block(const float* values, BlockQ5_1& block) {
  const Range range = range_of(values);
  const float scale = (range.highest - range.lowest) / 31;
  const float inverse = inverse_or_zero(scale);
  const auto code = [&](int j) { return truncated_code((values[j] - range.lowest) * inverse + 0.5f, 31); };
  block.scale.set(scale);
  block.base.set(range.lowest);
  pack_low_32(block.low, code);
  pack_fifth_bits(block.high, code);
}

void encode_block(const float* values, BlockQ8_0& block) {
  const float scale = std::fabs(signed_extreme(values)) / 127;
  const float inverse = inverse_or_zero(scale);
  block.scale.set(scale);
  for (int j = 0; j < 32; ++j) {
    // Half away from zero. The magnitude is rounded in two steps, because adding one half to a number just below a
    // half would round up.
    const float scaled = values[j] * inverse;
    const float magnitude = std::fabs(scaled);
    const int whole = truncated_code(magnitude, 127);
    const int rounded = whole + (whole < 127 && magnitude - static_cast<float>(whole) >= 0.5f ? 1 : 0);
    block.codes[j] = static_cast<std::int8_t>(scaled < 0 ? -rounded : rounded);
  }
}

}  // namespace ingot
