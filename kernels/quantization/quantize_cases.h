// Shapes: one block and several of every format, rank above 2, no rows, empty rows.
#pragma once

#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/quantize.h"
#include "tensor/block_codec.h"

namespace ingot {

inline void Quantize::cases(CaseList<Quantize>& list) {
  auto make = [](DType dtype, Shape shape) {
    return [dtype, shape](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.blocks = builder.blank_any(dtype, shape);
      return a;
    };
  };
  for (DType dtype : block_formats) {
    if (!has_encoder(dtype)) continue;
    list.parity("2 x 256 to " + std::string(name_of(dtype)), make(dtype, {2, 256}));
  }
  for (DType dtype : block_formats) {
    if (!has_encoder(dtype)) continue;
    list.parity("5 x 3 blocks to " + std::string(name_of(dtype)), make(dtype, {5, 3 * block_elements(dtype)}));
  }
  list.parity("one block of rank 1", make(DType::q8_0, {32}));
  list.parity("rank 4", make(DType::q4_0, {2, 2, 3, 96}));
  list.parity("no rows", make(DType::q4_0, {0, 64}));
  list.parity("empty rows", make(DType::q6_k, {3, 0}));
  list.benchmark("1024 x 4096 to q8_0", make(DType::q8_0, {1024, 4096}));
  list.benchmark("1024 x 4096 to q4_0", make(DType::q4_0, {1024, 4096}));
  list.benchmark("64 x 4096 to q4_k", make(DType::q4_k, {64, 4096}));
}

}  // namespace ingot
