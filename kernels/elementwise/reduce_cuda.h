// What launches of the reductions' device functions are told.
#pragma once

#include "kernels/device/rows.h"

namespace ingot {

enum class ReductionKind : std::uint8_t { sum, mean, sum_of_squares, maximum, argmax };

struct DeviceReduction {
  DeviceRows<const float> x;
  float* y;               // of all but argmax
  std::int32_t* indices;  // of argmax
  void* partials;         // eight bytes a piece of a row, where rows have several
  std::uint32_t pieces;   // of a row
  ReductionKind kind;
  bool is_aligned;  // rows begin at multiples of 16 bytes
};

inline constexpr std::uint32_t reduced_by_warp = 1024;    // elements of a row, at most
inline constexpr std::uint32_t reduced_piece = 16 << 10;  // elements that a block takes: from the shape alone

}  // namespace ingot
