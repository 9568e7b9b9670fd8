// Norms whose y only products with block formats read: the norm itself makes the 8-bit codes that those would make of
// it (kernels/norm/coded_rms_norm.h), and y is never written.
#pragma once

#include "model/circuit/circuit.h"

namespace ingot {

// Returns how often it applied. After the fusion of residual norms, which it takes in as well.
int code_norms(Circuit& circuit);

}  // namespace ingot
