// Packed weights: products of few rows of x read their weights in an execution layout (kernels/linear/interleaved.h)
// that was made once. The weights of the file stay as they are for all other steps: lookups, and products of many rows.
#pragma once

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"
#include "model/circuit/weights.h"

namespace ingot {

// Packs the weights of the circuit's products that have such a layout: q4_0 or q8_0, whole matrices of whole eights of
// rows. They take as many bytes again.
Result<Weights> pack_weights(const Circuit& circuit, const KernelTable& table, Context& context);

// Lets products of few rows read what was packed; returns how many.
int use_packed_weights(Circuit& circuit, const Weights& packed);

}  // namespace ingot
