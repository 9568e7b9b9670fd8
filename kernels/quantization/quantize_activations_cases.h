// Shapes: one block and several of either size, with and without sums, rank above 2, no rows, empty rows.
#pragma once

#include "kernels/quantization/quantize_activations.h"

namespace ingot {

inline void QuantizeActivations::cases(CaseList<QuantizeActivations>& list) {
  enum class Sums { absent, present };
  auto make = [](std::int32_t block, Shape shape, Sums sums) {
    return [block, shape, sums](CaseBuilder& builder) {
      Arguments a;
      a.x = builder.filled(shape);
      a.block = block;
      a.codes = builder.blank<std::int8_t>(shape);
      Shape shorter = shape;
      shorter[shape.rank() - 1] = shape.last() / block;
      a.scales = builder.blank(shorter);
      shorter[shape.rank() - 1] = shape.last() / 16;
      if (sums == Sums::present) a.sums = builder.blank<std::int32_t>(shorter);
      return a;
    };
  };
  list.parity("3 x 64 in blocks of 32", make(32, {3, 64}, Sums::absent));
  list.parity("3 x 256 in blocks of 256, sums", make(256, {3, 256}, Sums::present));
  list.parity("2 x 256 in blocks of 32, sums", make(32, {2, 256}, Sums::present));
  list.parity("one block of rank 1", make(32, {32}, Sums::present));
  list.parity("70 x 1280", make(256, {70, 1280}, Sums::present));
  list.parity("rank 4", make(32, {2, 2, 3, 96}, Sums::present));
  list.parity("no rows", make(32, {0, 64}, Sums::present));
  list.parity("empty rows", make(32, {3, 0}, Sums::absent));
  list.benchmark("1 x 4096 in blocks of 256, sums", make(256, {1, 4096}, Sums::present));
  list.benchmark("512 x 4096 in blocks of 32", make(32, {512, 4096}, Sums::absent));
}

}  // namespace ingot
