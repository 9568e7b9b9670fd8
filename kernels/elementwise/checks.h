// Constraint checks that the elementwise contracts share.
#pragma once

#include "kernels/contract/constraints.h"

namespace ingot::elementwise {

// A tensor that is walked element by element: the given shape, last axis packed.
Result<void> require_elements(std::string_view operation, std::string_view number, std::string_view field,
                              const ConstAnyView& view, const Shape& shape);
// Rank 1 to 6 and a packed last axis.
Result<void> require_any_elements(std::string_view operation, std::string_view number, std::string_view field,
                                  const ConstAnyView& view);
// A shape that repeats to another one: aligned at the last axis, each of its sizes is the other's or 1; last axis
// packed.
Result<void> require_repeats_to(std::string_view operation, std::string_view number, std::string_view field,
                                const ConstAnyView& view, const Shape& shape);

Shape without_last_axis(const Shape& shape);

}  // namespace ingot::elementwise
