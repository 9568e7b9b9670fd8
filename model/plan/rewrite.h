// Plan rewrites: a circuit's unfused contracts replaced by fused ones that save a pass over memory. Each is one row of
// one list, and each is checked against the circuit it rewrote.
#pragma once

#include "model/circuit/circuit.h"

namespace ingot {

struct Rewrite {
  std::string_view name;
  std::string_view saves;
  int (*apply)(Circuit& circuit);  // returns how often it applied
};

std::span<const Rewrite> all_rewrites();

// All of them, in the order of the list. Tensors that nothing touches any more stay listed and take no memory.
int apply_rewrites(Circuit& circuit);

}  // namespace ingot
