// How activations become 8-bit codes: the one definition that quantize_activations, vec_dot and the quantized matrix
// products share, so that their integer sums agree exactly. For a block of 32 or 256 values:
//
//   largest = max |x[i]|
//   scale   = largest / 127
//   inverse = 127 / largest, or 0 where largest < 2^-121 (zeros, and what is so small that 127 / largest overflows)
//   code[i] = round half to even(x[i] * inverse)
//
// each operation rounded to float. Codes lie in [-127, 127]. A block that holds a value which is not finite gets scale
// NaN and codes 0, so that whatever is computed with it is NaN.
//
// kernels/vector/activation_codes-inl.h has the same in vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace ingot {

struct ActivationScale {
  float scale;
  float inverse;
};

// From the bits of the largest magnitude. Magnitudes order as their bits do, NaN above infinity, so an integer maximum
// finds the largest value and whatever is not finite at once.
constexpr ActivationScale activation_scale(std::uint32_t largest_bits) {
  if (largest_bits >= 0x7f800000u) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float largest = std::bit_cast<float>(largest_bits);
  // Below 2^-121 the quotient could be beyond float.
  return {largest / 127, largest < 0x1p-121f ? 0 : 127 / largest};
}

constexpr std::int8_t activation_code(float x, float inverse) {
  if (inverse == 0) return 0;  // x may be anything here
  // 1.5 * 2^23 leaves no fraction bits, so the addition itself rounds, half to even.
  constexpr float shift = 0x1.8p23f;
  return static_cast<std::int8_t>((x * inverse + shift) - shift);
}

// Returns the scale.
constexpr float encode_activations(const float* x, int block, std::int8_t* codes) {
  std::uint32_t largest = 0;
  for (int i = 0; i < block; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const ActivationScale made = activation_scale(largest);
  for (int i = 0; i < block; ++i) codes[i] = activation_code(x[i], made.inverse);
  return made.scale;
}

}  // namespace ingot
