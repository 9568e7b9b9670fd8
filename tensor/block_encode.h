// Encoders of single blocks, for block_codec.cc. Each takes block_elements values; values that are not finite leave
// valid bytes whose meaning is unspecified.
#pragma once

#include "tensor/generic_formats.h"

namespace ingot {

void encode_block(const float* values, BlockQ4_0& block);
void encode_block(const float* values, BlockQ4_1& block);
void encode_block(const float* values, BlockQ5_0& block);
void encode_block(const float* values, BlockQ5_1& block);
void encode_block(const float* values, BlockQ8_0& block);
void encode_block(const float* values, BlockIQ4_NL& block);
void encode_block(const float* values, BlockIQ4_XS& block);
void encode_block(const float* values, BlockMXFP4& block);
void encode_block(const float* values, BlockTQ1_0& block);
void encode_block(const float* values, BlockTQ2_0& block);
void encode_block(const float* values, BlockQ2_K& block);
void encode_block(const float* values, BlockQ3_K& block);
void encode_block(const float* values, BlockQ4_K& block);
void encode_block(const float* values, BlockQ5_K& block);
void encode_block(const float* values, BlockQ6_K& block);

// The integer part of a value, held within [0, highest]; NaN is 0. (A plain conversion is undefined out of range.)
// Selections rather than branches: codes are not predictable.
constexpr int truncated_code(float value, int highest) {
  const auto limit = static_cast<float>(highest);
  value = value > 0 ? value : 0;
  return static_cast<int>(value < limit ? value : limit);
}

// The nearest integer within [lowest, highest]; NaN is lowest.
constexpr int nearest_code(float value, int lowest, int highest) {
  return truncated_code(value - static_cast<float>(lowest) + 0.5f, highest - lowest) + lowest;
}

}  // namespace ingot
