// Packed weights: products read their weights in an execution layout (kernels/linear/interleaved.h) that was made once.
#pragma once

#include <functional>

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"

namespace ingot {

// The weights that have such a layout: q4_0 or q8_0, read by products as whole matrices of whole eights of rows, and by
// nothing else (an output table that is looked up too stays as it is).
std::vector<int> find_packable_weights(const Circuit& circuit);

// Packs those weights a few megabytes at a time, and hands each part to `release` when it was packed: weights take as
// many bytes as they did, so memory need not hold them twice.
using ReleaseFunction = std::function<void(std::span<const std::byte>)>;
Result<Weights> pack_weights(const Circuit& circuit, const KernelTable& table, Context& context,
                             const ReleaseFunction& release = nullptr);

// Lets products read what was packed; returns how many.
int use_packed_weights(Circuit& circuit, const Weights& packed);

}  // namespace ingot
