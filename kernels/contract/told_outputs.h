// What a contract says of the outputs that a caller has no memory for yet. It says so by its checks alone: they refuse
// every shape but one, and name that one. So each output is given a shape and no memory, the contract is asked, and
// what it expected is tried, until nothing is left to refuse. Where it takes a neighbouring shape as well, the caller
// has a choice, and has to make it.
#pragma once

#include <vector>

#include "kernels/contract/operation.h"

namespace ingot {

struct ToldOutput {
  int field;
  DType dtype;
  Shape shape;
};

// Of the required outputs that are not bound, in the order of fields. On success they are bound to memory that nobody
// has: the caller binds them to his own. Precondition: the rest of the call is bound.
// Fails by the contract's own words where these are about the caller's arguments.
Result<std::vector<ToldOutput>> told_outputs(const Operation& operation, Invocation& invocation);

// Binds an output to memory that nobody has.
Result<void> bind_told(const ToldOutput& output, Invocation& invocation);

}  // namespace ingot
