#include "kernels/linear/sum_tolerance.h"

#include <cmath>

namespace ingot {

Tolerance sum_tolerance(std::int64_t terms, double largest_product) {
  const double root = std::sqrt(static_cast<double>(terms));
  return {.epsilons = 2 + root / 4,
          .scale = ErrorScale::element,
          .reason = "roundings of a float sum follow its partial sums: sqrt(terms) products of the largest size",
          .least_scale = root * largest_product};
}

}  // namespace ingot
