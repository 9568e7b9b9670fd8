// Byte dot products of a PC multiply an unsigned byte by a signed one. Weights become unsigned by an offset, whose
// share of a sum is known from x alone.
#pragma once

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
inline constexpr UnsignedRange unsigned_range<BlockMXFP4> = {12, 24};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ2_K> = {0, 3};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ3_K> = {4, 7};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ5_K> = {0, 31};
template <>
inline constexpr UnsignedRange unsigned_range<BlockQ6_K> = {32, 63};

}  // namespace ingot
