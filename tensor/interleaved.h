// Where rows of a matrix lie in memory. Interleaved: eight rows of blocks stand together, a braid, so that a product
// with few rows of x reads one stream and needs no sums across a register's lanes: lane r is row r.
//
// A braid, rows 8 n to 8 n + 7, lies where these would lie as rows, as many bytes. Their blocks b stand together, with
// codes in quads: the codes of four elements of a row, a byte each, those of the eight rows after each other, so that
// four rows fill a register; those of Q4_K in eights, two rows to a register. Nothing is rounded or dropped: the
// inverse is exact.
//
// Codes of five and six bits fill their bytes: some quads lie in the low bits, and the rest in the bits above those,
// from where two or three shifts with insertion bring sixteen codes (interleaved_codes.h).
#pragma once

#include <algorithm>
#include <iterator>

#include "tensor/any_view.h"
#include "tensor/block_formats.h"

namespace ingot {

enum class WeightLayout : std::uint8_t {
  rows,          // as stored in a file: one after the other
  interleaved8,  // eight rows of blocks together
  planes16,      // sixteen rows as matrix instructions of a device take them (tensor/planes.h)
};

inline constexpr std::int64_t interleaved_rows = 8;  // of a braid

using Quads = std::uint8_t[interleaved_rows][4];   // four bytes of each row
using Octets = std::uint8_t[interleaved_rows][8];  // eight

// q4_0 and q8_0: the bytes of a row's codes, moved. codes[i] = bytes 4 i to 4 i + 3.
template <class Block>
struct InterleavedBlocks {
  static constexpr int quads = (sizeof(Block) - sizeof(StoredHalf)) / 4;
  StoredHalf scales[interleaved_rows];
  Quads codes[quads];
};

// Quads 0 to 7 of 32 elements in five (pack_fives).
template <>
struct InterleavedBlocks<BlockQ5_0> {
  StoredHalf scales[interleaved_rows];
  Quads codes[5];
};

// Scales of groups 2 i and 2 i + 1, eight rows each, are sixteen 6-bit numbers s_i; s_0 to s_3 lie in group_scales
// (pack_sixes). Minimums are those of groups 4 i to 4 i + 3, row by row: those of rows 0 to 3 and of rows 4 to 7 with i
// = 0, then with i = 1, are m_0 to m_3. codes[i] = bytes 8 i to 8 i + 7, as they are: eights, because matrix
// instructions multiply two rows of eight.
template <>
struct InterleavedBlocks<BlockQ4_K> {
  StoredHalf scales[interleaved_rows], minimums[interleaved_rows];
  std::uint8_t group_scales[3][16], group_minimums[3][16];
  Octets codes[16];
};

// codes[g] are the four quads of a group of sixteen elements in three (pack_sixes).
template <>
struct InterleavedBlocks<BlockQ6_K> {
  StoredHalf scales[interleaved_rows];
  std::int8_t group_scales[16][interleaved_rows];
  Quads codes[16][3];
};

template <class Block>
constexpr bool keeps_its_bytes = sizeof(InterleavedBlocks<Block>) == interleaved_rows * sizeof(Block);
static_assert(keeps_its_bytes<BlockQ4_0> && keeps_its_bytes<BlockQ8_0> && keeps_its_bytes<BlockQ5_0>);
static_assert(keeps_its_bytes<BlockQ4_K> && keeps_its_bytes<BlockQ6_K>);

// The formats that have this layout.
inline constexpr DType interleaved_types[] = {DType::q4_0, DType::q8_0, DType::q5_0, DType::q4_k, DType::q6_k};

constexpr bool can_interleave(DType dtype) {
  return std::ranges::find(interleaved_types, dtype) != std::end(interleaved_types);
}

// function.operator()<Block>() for the formats that have this layout. Precondition: can_interleave(dtype).
template <class Function>
void with_interleaved_type(DType dtype, Function function) {
  switch (dtype) {
    case DType::q4_0: return function.template operator()<BlockQ4_0>();
    case DType::q8_0: return function.template operator()<BlockQ8_0>();
    case DType::q5_0: return function.template operator()<BlockQ5_0>();
    case DType::q4_k: return function.template operator()<BlockQ4_K>();
    default: return function.template operator()<BlockQ6_K>();
  }
}

// The two whose codes stay the bytes that they are.
constexpr bool keeps_code_bytes(DType dtype) { return dtype == DType::q4_0 || dtype == DType::q8_0; }
template <class Function>
void with_kept_bytes_type(DType dtype, Function function) {
  if (dtype == DType::q4_0) return function.template operator()<BlockQ4_0>();
  return function.template operator()<BlockQ8_0>();
}

// Rows `begin` to `end`, multiples of 8. Preconditions: can_interleave; `packed` is contiguous, rows have its shape and
// type, both are whole eights of rows.
void interleave_rows(const ConstAnyView& rows, std::int64_t begin, std::int64_t end, const AnyView& packed);
// Blocks of one row as their format stores them. Preconditions: those of `packed` above; the target has room for them.
void gather_blocks(const ConstAnyView& packed, std::int64_t row, std::int64_t first, std::int64_t count,
                   std::byte* target);
// The whole row.
void gather_row(const ConstAnyView& packed, std::int64_t row, std::byte* target);

}  // namespace ingot
