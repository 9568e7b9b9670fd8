// Numbers on a device: 16-bit types, bits, and functions of the library by their names.
//
// Sums and products fuse only where fused_multiply_add is named. Divisions and square roots round correctly on both
// sides; the other functions are the device's own library (most within 2 units in the last place), emulated by the
// host's.
#pragma once

#include "kernels/device/language.h"
#include "tensor/half.h"

#if !defined(__CUDACC__)
#include <bit>
#include <cmath>
#endif

namespace ingot::device {

#if defined(__CUDACC__)

INGOT_ON_DEVICE std::uint32_t bits_of(float value) { return __float_as_uint(value); }
INGOT_ON_DEVICE float float_of_bits(std::uint32_t bits) { return __uint_as_float(bits); }
INGOT_ON_DEVICE std::uint64_t bits_of(double value) { return static_cast<std::uint64_t>(__double_as_longlong(value)); }

INGOT_ON_DEVICE float to_float(Half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
INGOT_ON_DEVICE Half to_half(float value) {
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
INGOT_ON_DEVICE BFloat16 to_bfloat16(float value) {
  BFloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
// Two of them in a word, the first in its lower half, as matrix products take them.
INGOT_ON_DEVICE std::uint32_t pack_halves(float first, float second) {
  std::uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
}
INGOT_ON_DEVICE std::uint32_t pack_bfloat16s(float first, float second) {
  std::uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
  return result;
}

// Of the two halves of each word.
INGOT_ON_DEVICE std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
// Byte i of the result is the one that digit i of the selector names: 0 to 3 of the first word, 4 to 7 of the second.
INGOT_ON_DEVICE std::uint32_t select_bytes(std::uint32_t first, std::uint32_t second, std::uint32_t selector) {
  return __byte_perm(first, second, selector);
}

// To the nearest, ties to even; beyond the range its end, and 0 of NaN.
INGOT_ON_DEVICE std::int32_t nearest_integer(float value) { return __float2int_rn(value); }
// Within 2 units in the last place, but denormals are 0 before and after.
INGOT_ON_DEVICE float approximate_exponential_of_2(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

#else

INGOT_ON_DEVICE std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
INGOT_ON_DEVICE float float_of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
INGOT_ON_DEVICE std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

INGOT_ON_DEVICE float to_float(Half value) { return static_cast<float>(value); }
INGOT_ON_DEVICE Half to_half(float value) { return Half(value); }
INGOT_ON_DEVICE BFloat16 to_bfloat16(float value) { return BFloat16(value); }
INGOT_ON_DEVICE std::uint32_t pack_halves(float first, float second) {
  return half_bits_from_float(first) | std::uint32_t{half_bits_from_float(second)} << 16;
}
INGOT_ON_DEVICE std::uint32_t pack_bfloat16s(float first, float second) {
  return bfloat16_bits_from_float(first) | std::uint32_t{bfloat16_bits_from_float(second)} << 16;
}

INGOT_ON_DEVICE std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const float sum = float_from_half_bits(static_cast<std::uint16_t>(a >> shift)) +
                      float_from_half_bits(static_cast<std::uint16_t>(b >> shift));
    result |= std::uint32_t{half_bits_from_float(sum)} << shift;
  }
  return result;
}
INGOT_ON_DEVICE std::uint32_t select_bytes(std::uint32_t first, std::uint32_t second, std::uint32_t selector) {
  const std::uint64_t bytes = first | std::uint64_t{second} << 32;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  }
  return result;
}

INGOT_ON_DEVICE std::int32_t nearest_integer(float value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p31f) return INT32_MAX;
  if (value < -0x1p31f) return INT32_MIN;
  return static_cast<std::int32_t>(std::nearbyint(value));
}
INGOT_ON_DEVICE float approximate_exponential_of_2(float value) {
  const float result = std::exp2(value);
  return result < 0x1p-126f ? 0 : result;
}

#endif

// NaN stays NaN, but a device makes one NaN of all: 0x7fff, where the host keeps sign and payload.
INGOT_ON_DEVICE float to_float(BFloat16 value) { return float_of_bits(std::uint32_t{value.bits} << 16); }
INGOT_ON_DEVICE float to_float(float value) { return value; }

// The one conversion for templates over types of elements.
template <class Element>
INGOT_ON_DEVICE Element from_float(float value);
template <>
INGOT_ON_DEVICE float from_float<float>(float value) {
  return value;
}
template <>
INGOT_ON_DEVICE Half from_float<Half>(float value) {
  return to_half(value);
}
template <>
INGOT_ON_DEVICE BFloat16 from_float<BFloat16>(float value) {
  return to_bfloat16(value);
}

INGOT_ON_DEVICE Half half_of_bits(std::uint32_t bits) {
  Half result;
  result.bits = static_cast<std::uint16_t>(bits);
  return result;
}
INGOT_ON_DEVICE float first_half(std::uint32_t word) { return to_float(half_of_bits(word & 0xffffu)); }
INGOT_ON_DEVICE float second_half(std::uint32_t word) { return to_float(half_of_bits(word >> 16)); }
INGOT_ON_DEVICE float first_bfloat16(std::uint32_t word) { return float_of_bits(word << 16); }
INGOT_ON_DEVICE float second_bfloat16(std::uint32_t word) { return float_of_bits(word & 0xffff0000u); }

// The library's functions have the same names on both sides, and mean float here: a double is asked for by its type.
INGOT_ON_DEVICE float fused_multiply_add(float a, float b, float c) { return ::fmaf(a, b, c); }
INGOT_ON_DEVICE double fused_multiply_add(double a, double b, double c) { return ::fma(a, b, c); }
INGOT_ON_DEVICE float square_root(float value) { return ::sqrtf(value); }
INGOT_ON_DEVICE double square_root(double value) { return ::sqrt(value); }
INGOT_ON_DEVICE float exponential(float value) { return ::expf(value); }
INGOT_ON_DEVICE double exponential(double value) { return ::exp(value); }
INGOT_ON_DEVICE float exponential_of_2(float value) { return ::exp2f(value); }
INGOT_ON_DEVICE double exponential_of_2(double value) { return ::exp2(value); }
INGOT_ON_DEVICE float exponential_minus_1(float value) { return ::expm1f(value); }
INGOT_ON_DEVICE float logarithm(float value) { return ::logf(value); }
INGOT_ON_DEVICE double logarithm(double value) { return ::log(value); }
INGOT_ON_DEVICE float logarithm_of_1_plus(float value) { return ::log1pf(value); }
INGOT_ON_DEVICE float power(float base, float exponent) { return ::powf(base, exponent); }
INGOT_ON_DEVICE float sine(float value) { return ::sinf(value); }
INGOT_ON_DEVICE float cosine(float value) { return ::cosf(value); }
INGOT_ON_DEVICE double sine(double value) { return ::sin(value); }
INGOT_ON_DEVICE double cosine(double value) { return ::cos(value); }
INGOT_ON_DEVICE float hyperbolic_tangent(float value) { return ::tanhf(value); }
INGOT_ON_DEVICE float error_function(float value) { return ::erff(value); }
INGOT_ON_DEVICE float absolute(float value) { return ::fabsf(value); }
INGOT_ON_DEVICE double absolute(double value) { return ::fabs(value); }
INGOT_ON_DEVICE float round_down(float value) { return ::floorf(value); }
INGOT_ON_DEVICE float round_to_zero(float value) { return ::truncf(value); }
INGOT_ON_DEVICE float round_to_even(float value) { return ::rintf(value); }
INGOT_ON_DEVICE float copy_sign(float magnitude, float sign) { return ::copysignf(magnitude, sign); }
// A number wins over NaN.
INGOT_ON_DEVICE float maximum(float a, float b) { return ::fmaxf(a, b); }
INGOT_ON_DEVICE float minimum(float a, float b) { return ::fminf(a, b); }
INGOT_ON_DEVICE bool is_nan(float value) { return value != value; }
INGOT_ON_DEVICE bool is_finite(float value) { return (bits_of(value) & 0x7f800000u) != 0x7f800000u; }

inline constexpr float infinity = __builtin_huge_valf();

}  // namespace ingot::device
