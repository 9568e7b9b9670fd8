// A block of any format as integers: the one reading of the bytes that decoding and integer dot products share.
//
//   element i = scales[i / 16] * codes[i] - minimums[i / 16]
//
// computed in float in that order, which is what the formats define, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

inline constexpr int largest_block = 256;
inline constexpr int code_group = 16;  // the finest group with a scale of its own in any format

struct BlockCodes {
  std::int8_t codes[largest_block];
  float scales[largest_block / code_group];
  float minimums[largest_block / code_group];
};

// Whether minimums can be other than zero.
constexpr bool has_minimums(DType dtype) {
  return dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q2_k || dtype == DType::q4_k ||
         dtype == DType::q5_k;
}

// Fills the first block_elements(dtype) codes and their groups. Precondition: is_block_format(dtype).
void unpack_block(DType dtype, const std::byte* block, BlockCodes& codes);

}  // namespace ingot
