// Planes: sixteen rows of a block format, 256 elements of each at a time, in the order in which a device's matrix
// instructions take them, in units of 16 bytes (plane_tiles.h).
//
// Tiles of the same sixteen rows stand one after the other along the depth, where those rows would lie, and take as
// many bytes. Nothing is rounded or dropped: the inverse is exact.
#pragma once

#include "tensor/interleaved.h"
#include "tensor/plane_tiles.h"

namespace ingot {

// The formats that have this layout.
inline constexpr DType plane_types[] = {DType::q4_0, DType::q8_0, DType::q5_0, DType::q4_k, DType::q5_k, DType::q6_k};

constexpr bool has_planes(DType dtype) { return std::ranges::find(plane_types, dtype) != std::end(plane_types); }

// Rows `begin` to `end`, multiples of 16. Preconditions: has_planes; `packed` is contiguous, rows have its shape and
// type, whole sixteens of rows of whole spans of 256.
void lay_planes(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed);

// gather_blocks and gather_row (interleaved.h) of any layout but rows.
void gather_blocks(WeightLayout layout, const ConstAnyView& packed, std::int64_t row, std::int64_t first,
                   std::int64_t count, std::byte* target);
void gather_row(WeightLayout layout, const ConstAnyView& packed, std::int64_t row, std::byte* target);

}  // namespace ingot
