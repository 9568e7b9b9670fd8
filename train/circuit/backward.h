// The backward pass: a circuit reversed. Every step of the forward pass is answered, last step first, by the backward
// operations that its contract names; fields are bound by name (x to x, dy to the derivative by y), so nothing here
// knows what any operation computes.
#pragma once

#include <set>

#include "model/circuit/circuit.h"
#include "train/circuit/recompute.h"

namespace ingot {

using WeightNames = std::set<std::string, std::less<>>;

struct BackwardOptions {
  Recompute recompute = Recompute::cheap;
  // Adds to the weights' gradients instead of replacing them.
  bool accumulates = false;
};

struct BackwardPass {
  WeightNames added_to;  // gradients that must be zero before the pass although it does not accumulate
};

// The input [1] that holds the derivative by the loss itself: 1, or a part's share of a step.
inline constexpr std::string_view loss_derivative = "d(loss)";

// Appends to `circuit` the steps that compute the derivatives of `loss` (a tensor of one element) by the weights in
// `trained`. They are tensors of Storage::gradient named gradient_name(weight).
Result<BackwardPass> append_backward(Circuit& circuit, std::string_view loss, const WeightNames& trained,
                                     const BackwardOptions& options = {});

}  // namespace ingot
