// tq1_0 and tq2_0: their rounding is fixed, float operation by float operation, because files made elsewhere must come
// out the same to the bit.
#include <cmath>

#include "tensor/block_encode.h"

namespace ingot {
namespace {

constexpr int ternary_block = 256;

// Digits 0 to 2, and the scale: the largest magnitude.
void encode_digits(const float* values, int (&digits)[ternary_block], StoredHalf& scale) {
  float largest = 0;
  for (int i = 0; i < ternary_block; ++i) {
    if (std::fabs(values[i]) > largest) largest = std::fabs(values[i]);  // NaN never is
  }
  scale.set(largest);
  const float inverse = largest != 0 ? 1 / largest : 0;
  for (int i = 0; i < ternary_block; ++i) {
    const float value = values[i] * inverse;
    digits[i] = value >= 0.5f ? 2 : value <= -0.5f ? 0 : 1;  // halves round away from zero
  }
}

// The fraction 0.ddddd of base 3 as the least byte / 256 that has these digits. `digits` are `step` apart.
std::uint8_t packed_digits(const int* digits, int count, int step) {
  int number = 0;
  for (int i = 0; i < 5; ++i) number = number * 3 + (i < count ? digits[i * step] : 0);
  return static_cast<std::uint8_t>((number * 256 + 242) / 243);
}

}  // namespace

void encode_block(const float* values, BlockTQ2_0& block) {
  int digits[ternary_block];
  encode_digits(values, digits, block.scale);
  for (int j = 0; j < 64; ++j) {
    const int* first = digits + j / 32 * 128 + j % 32;
    block.low[j] = static_cast<std::uint8_t>(first[0] | first[32] << 2 | first[64] << 4 | first[96] << 6);
  }
}

void encode_block(const float* values, BlockTQ1_0& block) {
  int digits[ternary_block];
  encode_digits(values, digits, block.scale);
  for (int j = 0; j < 32; ++j) block.fives[j] = packed_digits(digits + j, 5, 32);
  for (int j = 0; j < 16; ++j) block.fives[32 + j] = packed_digits(digits + 160 + j, 5, 16);
  for (int j = 0; j < 4; ++j) block.fours[j] = packed_digits(digits + 240 + j, 4, 4);
}

}  // namespace ingot
