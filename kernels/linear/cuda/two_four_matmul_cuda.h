// What a launch of linear.two_four_matmul is told.
#pragma once

#include <cstdint>

namespace ingot {

struct TwoFourProducts {
  const float* x;
  std::int64_t x_stride;  // from row to row, as the others
  const float* values;
  std::int64_t values_stride;
  const std::uint8_t* positions;
  std::int64_t positions_stride;
  const float* bias;  // null: none
  float* y;
  std::int64_t y_stride;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t fours;  // of a row of x
};

inline constexpr std::uint32_t two_four_tokens = 8;
inline constexpr std::uint32_t two_four_warps = 8;

}  // namespace ingot
