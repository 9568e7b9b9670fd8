#include "kernels/linear/sum_tolerance.h"

#include <algorithm>
#include <cmath>

namespace ingot {

Tolerance sum_tolerance(std::int64_t terms, double largest_product) {
  const double root = std::sqrt(static_cast<double>(terms));
  return {.epsilons = 2 + root / 4,
          .scale = ErrorScale::element,
          .reason = "roundings of a float sum follow its partial sums: sqrt(terms) products of the largest size",
          .least_scale = root * largest_product};
}

Tolerance weight_sum_tolerance(std::int64_t terms, const ConstAnyView& x, const ConstAnyView& weights) {
  const double left = largest_magnitude(x);
  const double right = largest_magnitude(weights);
  const double flushed = weights.dtype() == DType::bf16 ? 0x1p-101 * std::max({left, right, 1.0}) : 0;
  return sum_tolerance(terms, std::max(left * right, flushed));
}

}  // namespace ingot
