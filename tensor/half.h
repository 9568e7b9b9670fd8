// The two 16-bit floating-point storage types. Arithmetic happens in float; these only convert.
#pragma once

#include <bit>
#include <cstdint>

namespace ingot {

// IEEE 754 binary16 to binary32. Every binary16 value is a binary32 value, so this is exact.
constexpr float float_from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero and subnormals: the fraction counts units of 2^-24.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

// Round to nearest, ties to even; NaN stays NaN (quiet), overflow becomes infinity.
constexpr std::uint16_t half_bits_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 2^16
  if (magnitude < 0x38800000u) {
    // Below 2^-14: let the float adder round, by adding the value whose last place is 2^-24.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

constexpr float float_from_bfloat16_bits(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Round to nearest, ties to even; NaN stays NaN (quiet).
constexpr std::uint16_t bfloat16_bits_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

struct Half {
  std::uint16_t bits;
  constexpr Half() : bits(0) {}
  constexpr explicit Half(float value) : bits(half_bits_from_float(value)) {}
  constexpr explicit operator float() const { return float_from_half_bits(bits); }
};

struct BFloat16 {
  std::uint16_t bits;
  constexpr BFloat16() : bits(0) {}
  constexpr explicit BFloat16(float value) : bits(bfloat16_bits_from_float(value)) {}
  constexpr explicit operator float() const { return float_from_bfloat16_bits(bits); }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace ingot
