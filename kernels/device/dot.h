// Products of four 8-bit numbers with four others, added to a sum of 32 bits that wraps around. The first number is in
// a word's lowest byte.
#pragma once

#include "kernels/device/language.h"

namespace ingot::device {

#if defined(__CUDACC__)

INGOT_ON_DEVICE std::int32_t dot_product_4x8(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
  return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
}
// Codes without a sign against those with one.
INGOT_ON_DEVICE std::int32_t dot_product_4x8_unsigned_signed(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
  std::int32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
INGOT_ON_DEVICE std::uint32_t dot_product_4x8_unsigned(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  return __dp4a(a, b, sum);
}

#else

template <class A, class B>
INGOT_ON_DEVICE std::uint32_t dot_product_of_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const std::int32_t product = std::int32_t{static_cast<A>(a >> shift)} * std::int32_t{static_cast<B>(b >> shift)};
    sum += static_cast<std::uint32_t>(product);
  }
  return sum;
}
INGOT_ON_DEVICE std::int32_t dot_product_4x8(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
  return static_cast<std::int32_t>(
      dot_product_of_bytes<std::int8_t, std::int8_t>(a, b, static_cast<std::uint32_t>(sum)));
}
INGOT_ON_DEVICE std::int32_t dot_product_4x8_unsigned_signed(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
  return static_cast<std::int32_t>(
      dot_product_of_bytes<std::uint8_t, std::int8_t>(a, b, static_cast<std::uint32_t>(sum)));
}
INGOT_ON_DEVICE std::uint32_t dot_product_4x8_unsigned(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  return dot_product_of_bytes<std::uint8_t, std::uint8_t>(a, b, sum);
}

#endif

}  // namespace ingot::device
