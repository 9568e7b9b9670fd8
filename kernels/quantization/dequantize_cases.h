// Shapes: one block and several of every format, rank above 2, no rows, empty rows; and blocks of arbitrary bytes,
// because an encoder does not reach every code, scale and minimum.
#pragma once

#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dequantize.h"

namespace ingot {

inline void Dequantize::cases(CaseList<Dequantize>& list) {
  auto make = [](DType dtype, Shape shape) {
    return [dtype, shape](CaseBuilder& builder) {
      Arguments a;
      a.blocks = builder.filled_any(dtype, shape);
      a.y = builder.blank(shape);
      return a;
    };
  };
  auto arbitrary = [](DType dtype) {
    return [dtype](CaseBuilder& builder) {
      const Shape shape = {7, 256};
      const AnyView blocks = builder.blank_any(dtype, shape);
      const Rows rows = byte_rows(blocks);
      for (std::int64_t row = 0; row < rows.count(); ++row) {
        for (std::int64_t byte = 0; byte < row_bytes(dtype, 256); ++byte) {
          rows[row][byte] = static_cast<std::byte>(builder.random());
        }
      }
      Arguments a;
      a.blocks = blocks;
      a.y = builder.blank(shape);
      return a;
    };
  };
  for (DType dtype : block_formats) {
    list.parity("2 x 256 of " + std::string(name_of(dtype)), make(dtype, {2, 256}));
  }
  for (DType dtype : block_formats) {
    list.parity("5 x 3 blocks of " + std::string(name_of(dtype)), make(dtype, {5, 3 * block_elements(dtype)}));
    list.parity("arbitrary bytes of " + std::string(name_of(dtype)), arbitrary(dtype));
  }
  list.parity("one block of rank 1", make(DType::q8_0, {32}));
  list.parity("rank 4", make(DType::q4_0, {2, 2, 3, 96}));
  list.parity("no rows", make(DType::q4_0, {0, 64}));
  list.parity("empty rows", make(DType::q6_k, {3, 0}));
  list.benchmark("1024 x 4096 of q8_0", make(DType::q8_0, {1024, 4096}));
  list.benchmark("1024 x 4096 of q4_0", make(DType::q4_0, {1024, 4096}));
  list.benchmark("256 x 4096 of q4_k", make(DType::q4_k, {256, 4096}));
}

}  // namespace ingot
