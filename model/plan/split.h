// Splitting: the first layers of a pass run on the host, the others on a device that has no memory for all of them.
//
// A pass goes through its layers in order, so there is one place where it crosses: behind the host's last layer. Each
// part is rewritten by itself, as its processor wants it, and then both are one circuit again:
//
//   steps of the host, a layout.copy for each tensor that crosses, steps of the device
#pragma once

#include "model/circuit/circuit.h"

namespace ingot {

struct CircuitParts {
  // Both list all tensors. Those that cross are outputs of the one and inputs of the other, so that no rewrite may let
  // them go.
  Circuit host;
  Circuit device;
  std::vector<int> crossing;
};

// The first layers, and what stands before them, are the host's. Precondition: there is at least one.
CircuitParts split_layers(const Circuit& circuit, std::int64_t host_layers);

// Of parts to which tensors and steps may have been added since. Tensors of the host are marked, what nothing touches
// is gone. All inputs of the pass are the device's; the host's steps read twins of them.
Circuit join_parts(CircuitParts parts);

}  // namespace ingot
