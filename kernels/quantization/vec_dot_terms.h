// The terms of a quantized dot product, one a group of 16 elements: what the reference sums and the tolerance weighs.
#pragma once

#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/vec_dot.h"
#include "tensor/block_codes.h"

namespace ingot {

// Calls visit(product, minimum) for each group of a row; the row's result is the sum of product - minimum.
template <class Visit>
void for_each_term(const VecDot::Arguments& arguments, std::int64_t row, Visit&& visit) {
  const DType dtype = arguments.weights.dtype();
  const int elements = block_elements(dtype);
  const std::int64_t blocks = arguments.codes.size(0) / elements;
  BlockCodes weights;
  for (std::int64_t b = 0; b < blocks; ++b) {
    unpack_block(dtype, arguments.weights.row(row) + b * block_bytes(dtype), weights);
    const double scale = arguments.scales.data()[b];
    for (int group = 0; group < elements / code_group; ++group) {
      const std::int64_t first = b * elements + group * code_group;
      std::int32_t sum = 0;
      for (int i = 0; i < code_group; ++i) {
        sum += std::int32_t{weights.codes[group * code_group + i]} * arguments.codes.data()[first + i];
      }
      const double product = scale * (double{weights.scales[group]} * sum);
      const std::int64_t sums_index = first / code_group;
      const double minimum =
          has_minimums(dtype) ? scale * (double{weights.minimums[group]} * arguments.sums.data()[sums_index]) : 0;
      visit(product, minimum);
    }
  }
}

}  // namespace ingot
