// How far an output is from the reference's, in epsilons of its type.
#pragma once

#include <optional>
#include <string>

#include "kernels/contract/tolerance.h"
#include "tensor/any_view.h"

namespace ingot {

struct Comparison {
  double worst_epsilons = 0;
  bool within_tolerance = true;
  std::string mismatch;  // the first element out of tolerance: where, expected, found
};

// Both views have the same dtype and shape. NaN equals NaN; infinities must agree in sign. Integers, and block formats
// whose tolerance is zero, must agree bit for bit.
Comparison compare_outputs(const ConstAnyView& expected, const ConstAnyView& found, const Tolerance& tolerance);

// Bit equality of every element.
bool bit_equal(const ConstAnyView& first, const ConstAnyView& second);

}  // namespace ingot
