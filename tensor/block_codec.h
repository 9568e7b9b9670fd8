// Scalar truth of the block formats: how a row of numbers becomes blocks and back. Decoding is exact by definition (it
// is what the bytes mean); encoding is the contract's rounding. Every quantized kernel is measured against these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot {

// Any dtype but i8, u8, i32, i64. Precondition: count is a multiple of block_elements(dtype).
void decode_row(DType dtype, const std::byte* blocks, float* values, std::int64_t count);
// Formats whose codes are points of a grid have no encoder: a point that is nearest to eight weights serves a model
// badly unless it is known how much each of them matters, which is measured on texts. Nor has nvfp4: the range of its
// scales is that of weights only beside a scale of the whole tensor, which has no place in blocks.
constexpr bool has_encoder(DType dtype) {
  return !is_generic_format(dtype) || dtype == DType::tq1_0 || dtype == DType::tq2_0;
}
// Precondition: has_encoder(dtype).
void encode_row(DType dtype, const float* values, std::byte* blocks, std::int64_t count);

}  // namespace ingot
