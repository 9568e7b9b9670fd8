// Products that are made together, or go on with what they gave while it is in cache
// (kernels/linear/fused/gated_matmul.h and its neighbours). Each returns how often it applied.
//
// They pay where products multiply weights as they lie: block formats, few rows of x, and all of a device. The CPU's
// products of many rows with floats pack panels of their own, and stay as they are. Of a device, what a row becomes
// must not depend on how many there are, and a curve by itself is not the one behind a product to the last bit.
#pragma once

#include "model/plan/rewrite.h"

namespace ingot {

// y = f(x G^T) (x U^T): a gated activation and the two products under it, or the two halves of one.
int fuse_gated_products(Circuit& circuit, const RewriteContext& context);
// y = f(x W^T + bias): a curve and the product under it.
int fuse_activated_products(Circuit& circuit, const RewriteContext& context);
// Products that share x, two or three at a time: queries, keys and values.
int join_products(Circuit& circuit, const RewriteContext& context);

}  // namespace ingot
