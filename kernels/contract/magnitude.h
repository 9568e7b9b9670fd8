// How large the terms of a sum are: what rounding errors are measured against where sums may cancel.
#pragma once

#include "tensor/any_view.h"

namespace ingot {

// The largest finite magnitude in a view; 0 where it is empty or has no data (a planned, not yet allocated tensor).
double largest_magnitude(const ConstAnyView& view);

}  // namespace ingot
