#include "kernels/linear/sum_tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/contract/case_builder.h"
#include "tensor/block_codec.h"

namespace ingot {

double largest_magnitude(const ConstAnyView& view) {
  if (view.data() == nullptr || view.empty()) return 0;
  float largest = 0;
  float values[256];
  const int block = block_elements(view.dtype());
  for_each_block(view, [&](std::int64_t offset) {
    decode_row(view.dtype(), view.data() + offset, values, block);
    for (int i = 0; i < block; ++i) {
      if (std::isfinite(values[i])) largest = std::max(largest, std::fabs(values[i]));
    }
  });
  return largest;
}

Tolerance sum_tolerance(std::int64_t terms, double largest_product) {
  const double root = std::sqrt(static_cast<double>(terms));
  return {.epsilons = 2 + root / 4,
          .scale = ErrorScale::element,
          .reason = "roundings of a float sum follow its partial sums: sqrt(terms) products of the largest size",
          .least_scale = root * largest_product};
}

}  // namespace ingot
