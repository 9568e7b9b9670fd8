// linear.matmul over weights in WeightLayout::interleaved8 (interleaved.h).
#pragma once

#include "kernels/linear/matmul.h"

namespace ingot {

inline bool is_interleaved(const Matmul::Arguments& arguments) {
  return arguments.layout == WeightLayout::interleaved8;
}

// One block of a row of x as 8-bit codes, and as the pairs of words that a vector of weights is multiplied with: the
// words of a row's four bytes hold elements 4 i, 4 i + 2 (their low bytes) and 4 i + 1, 4 i + 3 (their high ones).
struct CodedBlock {
  std::int8_t codes[32];
  std::int16_t pairs[16][2];  // 2 i and 2 i + 1 of elements 4 i to 4 i + 3
  float scale;
  std::int32_t sum;  // of the codes
};

std::size_t interleaved_scratch_bytes(const Matmul::Arguments& arguments, int threads);

// Rows of x that meet the weights while these are in registers.
inline constexpr std::int64_t interleaved_rows_at_once = 4;

extern const SimdEntries<Matmul> matmul_interleaved_simd;
// By byte dot products; null on other architectures.
extern const SimdEntries<Matmul>::Function matmul_interleaved_avx512_vnni;
extern const SimdEntries<Matmul>::Function matmul_interleaved_neon_dotprod;

}  // namespace ingot
