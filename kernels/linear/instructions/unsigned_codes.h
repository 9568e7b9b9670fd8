// Byte dot products of a PC multiply an unsigned byte by a signed one. Weights become unsigned by an offset, whose
// share of a sum is known from x alone.
#pragma once

#include <algorithm>

#include "tensor/block_formats.h"

namespace ingot {

// Codes plus `offset` lie in [0, largest].
struct UnsignedRange {
  int offset = 0;
  int largest = 15;
};

template <class Block>
inline constexpr UnsignedRange unsigned_range;  // q4_1, q4_k
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ4_0> = {8, 15};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ5_0> = {16, 31};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ5_1> = {0, 31};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ8_0> = {128, 255};
template <>
inline constexpr UnsignedRange unsigned_range<BlockIQ4_NL> = {128, 255};
template <>
inline constexpr UnsignedRange unsigned_range<BlockIQ4_XS> = {128, 255};
template <>
inline constexpr UnsignedRange unsigned_range<BlockMXFP4> = {12, 24};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ2_K> = {0, 3};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ3_K> = {4, 7};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ5_K> = {0, 31};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ6_K> = {32, 63};

// Codes of weights as unsigned bytes.
struct CodePlanes {
  int count;   // 1: a byte is code + offset. 2: codes too large for a byte's product are 16 * (upper - offset) + lower
  int offset;  // of the only plane, or of the upper one
  int chain_quads;  // quads (four neighbouring codes) that one chain of sums has room for
  bool operator==(const CodePlanes&) const = default;
};

// By byte dot products of a PC, whose chains are 32-bit sums: room for all.
template <class Block>
inline constexpr CodePlanes dot_planes = {1, unsigned_range<Block>.offset, Block::group / 4};

// By VPMADDUBSW: an unsigned byte times a signed one, two of them into a 16-bit lane, which saturates: codes of eight
// bits are split. Chains of such lanes wrap around harmlessly as long as what they end with fits; they are as long as
// that holds for the largest codes.
template <class Block>
constexpr CodePlanes make_word_planes() {
  constexpr int largest_word = 32767;
  constexpr int pair = 2 * 127;  // of the largest codes of x
  const UnsignedRange range = unsigned_range<Block>;
  if (pair * range.largest > largest_word) return {2, 8, Block::group / 4};
  int chain_quads = Block::group / 4;
  while (chain_quads * pair * std::max(range.offset, range.largest - range.offset) > largest_word) chain_quads /= 2;
  return {1, range.offset, chain_quads};
}
template <class Block>
inline constexpr CodePlanes word_planes = make_word_planes<Block>();

}  // namespace ingot
