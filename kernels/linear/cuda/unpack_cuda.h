// What a launch that takes rows out of an execution layout is told (tensor/planes.h, tensor/interleaved.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

struct UnpackedRows {
  const std::byte* packed;
  std::byte* rows;
  std::int64_t row_bytes;   // from row to row
  std::uint32_t row_count;  // whole tiles of them
  std::uint32_t spans;      // of a row: 256 elements of a tile, or blocks
  DType type;
};

}  // namespace ingot
