// Products with weights in WeightLayout::interleaved8 (tensor/interleaved.h), in two parts like every way of
// multiplying columns (column_product.h): x is prepared once, then any thread multiplies any braids, eight columns
// each.
#pragma once

#include "kernels/linear/matmul/matmul.h"
#include "machine/workers.h"

namespace ingot {

inline bool is_interleaved(const Matmul::Arguments& arguments) {
  return arguments.layout == WeightLayout::interleaved8;
}

// A row of x, floats or codes.
inline BlockReader row_reader(const Matmul::Arguments& a, std::int64_t row, EncodeFunction encode) {
  return {a.coded(), reinterpret_cast<const std::byte*>(a.x.data()),
          a.x.stride(0) * static_cast<std::int64_t>(sizeof(float)), row, encode};
}

struct BraidProduct {
  bool (*accepts)(const Matmul::Arguments& arguments) = nullptr;  // beside is_interleaved
  std::size_t (*bytes)(const Matmul::Arguments& arguments) = nullptr;
  void (*prepare)(const Matmul::Arguments& arguments, Workers& workers, std::byte* prepared) = nullptr;
  void (*columns)(const Matmul::Arguments& arguments, const std::byte* prepared) = nullptr;
  std::int64_t chunk_bytes = 64 << 10;  // of weights: the most that is handed to a thread where there are many
  // The most rows of x that are multiplied together; more of them go in turns. Null: any number.
  std::int64_t (*rows_together)(const Matmul::Arguments& arguments) = nullptr;
};

// q4_0 and q8_0, any number of rows of x.
extern const PerTarget<const BraidProduct*> interleaved_simd;
// By byte dot products; null on other architectures.
extern const BraidProduct* const interleaved_avx512_vnni;
extern const BraidProduct* const interleaved_neon_dotprod;
// Two to 32 rows of x by SMMLA, in two turns at most; null on other architectures.
extern const BraidProduct* const interleaved_neon_i8mm;
// The same for blocks of 32, in the order of sums that does not depend on how many rows there are.
extern const BraidProduct* const interleaved_even_neon_i8mm;
// One row of x, q4_k by USMMLA; null on other architectures.
extern const BraidProduct* const interleaved_row_neon_i8mm;

}  // namespace ingot
