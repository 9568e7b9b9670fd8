// What is done to queries and keys alike, and to keys and values, in one step each: where every step costs a launch,
// two small ones cost twice what one does.
#pragma once

#include "model/circuit/circuit.h"

namespace ingot {

// All return how often they applied. The first turns queries and keys together; the second stores keys and values
// together, after attention was lowered to a cache; the third, behind both, stores keys where they are turned.
int join_rotations(Circuit& circuit);
int join_stores(Circuit& circuit);
int join_rotations_with_stores(Circuit& circuit);

}  // namespace ingot
