// Products that are made together, or go on with what they gave while it is in cache
// (kernels/linear/fused/gated_matmul.h and its neighbours). Each returns how often it applied.
//
// They pay where products multiply weights as they lie: block formats, and few rows of x. Products of many rows with
// floats pack panels of their own, and stay as they are.
#pragma once

#include "kernels/contract/table.h"
#include "model/circuit/circuit.h"

namespace ingot {

// y = f(x G^T) (x U^T): a gated activation and the two products under it, or the two halves of one.
int fuse_gated_products(Circuit& circuit, Neighbours neighbours);
// y = f(x W^T + bias): a curve and the product under it.
int fuse_activated_products(Circuit& circuit, Neighbours neighbours);
// Products that share x, two or three at a time: queries, keys and values.
int join_products(Circuit& circuit, Neighbours neighbours);

}  // namespace ingot
