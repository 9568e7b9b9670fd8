// WeightLayout::interleaved8: eight rows of blocks stand together, so that a product with few rows of x reads one
// stream and needs no sums across a register's lanes: lane r is row r.
//
// Rows 8 g to 8 g + 7 lie where they would lie as rows, as many bytes. Their blocks b form one group: the eight scales,
// then the codes, four bytes of each row in turn:
//
//   codes[i][r] = bytes 4 i to 4 i + 3 of the codes of row 8 g + r
//
// Nothing is converted, only moved: the inverse is exact.
#pragma once

#include "kernels/contract/constraints.h"
#include "tensor/block_formats.h"

namespace ingot {

inline constexpr std::int64_t interleaved_rows = 8;

template <class Block>
struct InterleavedBlocks {
  static constexpr int quads = (sizeof(Block) - sizeof(StoredHalf)) / 4;
  StoredHalf scales[interleaved_rows];
  std::uint8_t codes[quads][interleaved_rows][4];
};
static_assert(sizeof(InterleavedBlocks<BlockQ4_0>) == interleaved_rows * sizeof(BlockQ4_0));
static_assert(sizeof(InterleavedBlocks<BlockQ8_0>) == interleaved_rows * sizeof(BlockQ8_0));

// function.operator()<Block>() for the formats that have this layout. Precondition: can_interleave(dtype).
template <class Function>
void with_interleaved_type(DType dtype, Function function) {
  if (dtype == DType::q4_0) {
    function.template operator()<BlockQ4_0>();
  } else {
    function.template operator()<BlockQ8_0>();
  }
}

constexpr bool can_interleave(DType dtype) { return dtype == DType::q4_0 || dtype == DType::q8_0; }

// q4_0 or q8_0, a matrix of whole eights of rows, contiguous.
Result<void> require_interleaved(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view);

// Rows `begin` to `end`, multiples of 8. Preconditions: require_interleaved(packed); rows have the same shape and type.
void interleave_rows(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed);
// Blocks of one row as their format stores them. Preconditions: require_interleaved; the target has room for them.
void gather_blocks(const ConstAnyView& packed, std::int64_t row, std::int64_t first, std::int64_t count,
                   std::byte* target);
// The whole row.
void gather_row(const ConstAnyView& packed, std::int64_t row, std::byte* target);

}  // namespace ingot
