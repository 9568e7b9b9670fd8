// What layout.cast means for a single number.
#pragma once

#include <cstdint>
#include <limits>

#include "tensor/dtype.h"

namespace ingot {

// Between floats: to nearest, ties to even. From an integer to a float: by way of f32, to nearest. To an integer:
// toward zero, values out of range become the nearest bound, NaN becomes 0.
template <class To, class From>
constexpr To convert_element(From value) {
  if constexpr (!std::is_integral_v<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<From>) {
    // Every integer type here fits 64 bits.
    const auto wide = static_cast<std::int64_t>(value);
    if (wide < std::int64_t{std::numeric_limits<To>::min()}) return std::numeric_limits<To>::min();
    if (wide > std::int64_t{std::numeric_limits<To>::max()}) return std::numeric_limits<To>::max();
    return static_cast<To>(wide);
  } else {
    const auto number = static_cast<double>(static_cast<float>(value));
    if (number != number) return 0;
    // The bounds of i64 round up to 2^63 as doubles, so that the comparison also covers the bound itself.
    if (number <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (number >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(number);
  }
}

}  // namespace ingot
