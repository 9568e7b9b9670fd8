// What every update rule asks of its arguments.
//
// Hyper-parameters are doubles: a rule uses 1 - beta, and for a beta of 0.999 that difference would carry the rounding
// of a float beta a thousandfold. Vector variants round the finished constants to float once.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kernels/contract/contract.h"
#include "tensor/rows.h"

namespace ingot {

inline constexpr Backward update_has_no_backward = Backward::none("an update rule, not a function of the model");

struct NamedTensor {
  std::string_view field;
  ConstAnyView view;
};

// C1: the first has rank 1 to 6, the others its shape; last axes are packed, rows may lie anywhere.
Result<void> check_update_tensors(std::string_view operation, std::initializer_list<NamedTensor> tensors);

Result<void> require_finite_number(std::string_view operation, std::string_view number, std::string_view field,
                                   double value);
Result<void> require_finite_not_negative(std::string_view operation, std::string_view number, std::string_view field,
                                         double value);
// A decay rate of a moving average: in [0, 1).
Result<void> require_decay_rate(std::string_view operation, std::string_view number, std::string_view field,
                                double value);

// The size of m / (root_scale sqrt(v) + epsilon) where m is a sum whose terms have the magnitude `terms`. A denormal is
// rounded as coarsely as the smallest normal number, and the quotient makes that count: in m against a small
// denominator, in v against itself.
inline double step_terms(double terms, double v, double root_scale, double epsilon) {
  constexpr double smallest_normal = 0x1p-126;
  const double root = root_scale * std::sqrt(v);
  return (terms + smallest_normal) / (root + epsilon) * (1 + smallest_normal / v * root / (root + epsilon));
}

// The largest finite term(row, i) over all elements. A new parameter is an old one less a step whose own terms may
// cancel, so its error is measured against the sum of the terms' magnitudes.
template <class Term>
double largest_term(const View<float>& parameters, const Term& term) {
  double largest = 0;
  if (parameters.data() == nullptr || parameters.empty()) return largest;
  const Rows rows(parameters);
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    for (std::int64_t i = 0; i < rows.length(); ++i) {
      const double magnitude = term(row, i);
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
  }
  return largest;
}

// Each gradient is read, each state is read and written, and each is four bytes.
Cost update_cost(std::int64_t elements, double operations_per_element, int tensors_read, int tensors_written);

}  // namespace ingot
