// Shapes: one block and several of every format, one row and many, no rows, no columns.
#pragma once

#include "kernels/quantization/block_format_checks.h"
#include "kernels/quantization/vec_dot.h"
#include "kernels/vector/activation_codes.h"
#include "tensor/block_codes.h"

namespace ingot {

inline void VecDot::cases(CaseList<VecDot>& list) {
  auto make = [](DType dtype, std::int64_t rows, std::int64_t length) {
    return [dtype, rows, length](CaseBuilder& builder) {
      Arguments a;
      a.weights = builder.filled_any(dtype, {rows, length});
      const View<std::int8_t> codes =
          builder.filled<std::int8_t>({length}, Fill::integers(-127, 128), Packing::contiguous);
      a.codes = codes;
      // Activation scales are positive, and NaN for a whole block at once: the regimes are for the weights here.
      a.scales = builder.filled({length / block_elements(dtype)}, Fill::uniform(0.001, 0.1), Packing::contiguous);
      if (has_minimums(dtype)) {
        const View<std::int32_t> sums = builder.blank<std::int32_t>({length / code_group}, Packing::contiguous);
        for (std::int64_t group = 0; group < sums.count(); ++group) {
          sums(group) = 0;
          for (std::int64_t i = 0; i < code_group; ++i) sums(group) += codes(group * code_group + i);
        }
        a.sums = sums;
      }
      a.y = builder.blank({rows}, Packing::contiguous);
      return a;
    };
  };
  constexpr std::string_view reason =
      "such weights have infinite scales, and whether a sum of infinities is NaN depends on its order";
  list.exclude(Regime::large, reason);
  list.exclude(Regime::specials, reason);
  for (DType dtype : block_formats) {
    list.parity("2 x 256 of " + std::string(name_of(dtype)), make(dtype, 2, 256));
  }
  for (DType dtype : block_formats) {
    list.parity("5 x 7 blocks of " + std::string(name_of(dtype)), make(dtype, 5, 7 * block_elements(dtype)));
  }
  list.parity("one block", make(DType::q4_0, 1, 32));
  list.parity("300 x 1024 of q4_k", make(DType::q4_k, 300, 1024));
  list.parity("no rows", make(DType::q8_0, 0, 64));
  list.parity("no columns", make(DType::q8_0, 3, 0));
  list.benchmark("4096 x 4096 of q4_0", make(DType::q4_0, 4096, 4096));
  list.benchmark("4096 x 4096 of q8_0", make(DType::q8_0, 4096, 4096));
  list.benchmark("1024 x 4096 of q4_k", make(DType::q4_k, 1024, 4096));
}

}  // namespace ingot
