// What the operations of this family agree on about weight matrices: their types, their layout, and the 8-bit codes
// that activations become before they meet a block format.
#pragma once

#include "kernels/contract/weight_layout.h"
#include "kernels/linear/coded_x.h"

namespace ingot {

// Type f32, f16, bf16 or a block format, of a given shape, with packed rows.
Result<void> require_weights(std::string_view operation, std::string_view number, const ConstAnyView& weights,
                             const Shape& shape);
// A float tensor of a given shape with packed rows.
Result<void> require_packed(std::string_view operation, std::string_view number, std::string_view field,
                            const ConstAnyView& view, const Shape& shape);

// The bytes of all elements, gaps between rows not counted.
double stored_bytes(const ConstAnyView& view);

// The 8-bit codes of one row of activations (see vector/activation_codes.h), in blocks of the weights' block
// length: x ~ scales[i / block] * codes[i]. Preconditions: block is 32, 64 or 256, and length a multiple of it.
void encode_activation_row(const float* x, std::int8_t* codes, float* scales, std::int64_t length, int block);
// The same row as the numbers that the codes stand for, which a float product may use in its place.
void round_to_codes(const float* x, float* values, std::int64_t length, int block);
// The numbers that a row of codes stands for.
void decode_activations(const CodedX& coded, std::int64_t row, float* values, std::int64_t length, int block);

}  // namespace ingot
