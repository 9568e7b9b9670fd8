// Scalar truth of the block formats: how a row of numbers becomes blocks and back. Decoding is exact by definition (it
// is what the bytes mean); encoding is the contract's rounding. Every quantized kernel is measured against these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

// Any dtype but i8, u8, i32, i64. Precondition: count is a multiple of block_elements(dtype).
void decode_row(DType dtype, const std::byte* blocks, float* values, std::int64_t count);
void encode_row(DType dtype, const float* values, std::byte* blocks, std::int64_t count);

}  // namespace ingot
