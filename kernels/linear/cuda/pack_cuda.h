// What a launch that lays weights into planes is told (tensor/planes.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

struct PackedPlanes {
  const std::byte* rows;
  std::int64_t row_bytes;  // from row to row
  std::byte* tiles;
  std::uint32_t sixteens;  // of rows
  std::uint32_t spans;     // of 256 elements in a row
  DType type;
};

}  // namespace ingot
