// The tolerance of a sum of products, the same for every operation of this family.
//
// A float sum of `terms` products, in whatever order, has rounding errors that follow the size of its partial sums, not
// of its result. With independent signs a partial sum grows as sqrt(terms) times the largest product, and so does the
// number of epsilons that its roundings add up to. Errors are therefore measured against sqrt(terms) * max|a| * max|b|,
// and the count of epsilons grows with sqrt(terms). A term left out is thousands of such units.
#pragma once

#include "kernels/contract/magnitude.h"
#include "kernels/contract/tolerance.h"

namespace ingot {

Tolerance sum_tolerance(std::int64_t terms, double largest_product);
inline Tolerance sum_tolerance(std::int64_t terms, const ConstAnyView& first, const ConstAnyView& second) {
  return sum_tolerance(terms, largest_magnitude(first) * largest_magnitude(second));
}

// Of a product x W^T. Instructions for bf16 pairs flush what is below the normal range, 2^-126: a factor, a product or
// the sum. With n terms that is at most n 2^-126 times the other factor's size, which is below the epsilons above where
// the largest product counts as at least 2^25 times as much as one flushed term.
Tolerance weight_sum_tolerance(std::int64_t terms, const ConstAnyView& x, const ConstAnyView& weights);

}  // namespace ingot
