// What every update rule asks of its arguments.
//
// Hyper-parameters are doubles: a rule uses 1 - beta, and for a beta of 0.999 that difference would carry the rounding
// of a float beta a thousandfold. Vector variants round the finished constants to float once.
#pragma once

#include <initializer_list>

#include "kernels/contract/contract.h"

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

// Each gradient is read, each state is read and written, and each is four bytes.
Cost update_cost(std::int64_t elements, double operations_per_element, int tensors_read, int tensors_written);

}  // namespace ingot
