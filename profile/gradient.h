// A generic gradient check. A backward operation binds to its forward by field names, so one function checks them all.
#pragma once

#include <span>

#include "kernels/contract/operation.h"
#include "profile/guarded_call.h"

namespace ingot {

// Compares the gradients that the backward references give with central differences of the forward reference. Returns
// the worst error relative to the largest gradient of its tensor; an error where it exceeds gradient_tolerance or a
// field cannot be bound.
//
//   L = sum over outputs y of <dy, y>, with random dy;   dL/dx ~ (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h
//
// L is summed in double. Outputs are stored in float, so L carries an error of about 6e-8 sqrt(n) |y|; with h = 2^-7
// that is 1e-5 of a gradient of size one, and the fourth-order formula's own error is below it. A wrong formula is off
// by far more than the tolerance.
inline constexpr double gradient_tolerance = 2e-3;

Result<double> check_gradient(const Operation& operation, std::span<const Operation* const> operations, int case_index,
                              std::uint64_t seed, Workers& workers, ProvingGround& ground);

}  // namespace ingot
