// What contracts ask of weights in an execution layout (tensor/interleaved.h).
#pragma once

#include "kernels/contract/constraints.h"
#include "tensor/interleaved.h"

namespace ingot {

// A type that can be interleaved, a matrix of whole eights of rows.
Result<void> require_can_interleave(std::string_view operation, std::string_view number, std::string_view field,
                                    const ConstAnyView& view);
// The same, contiguous: as interleaved rows must lie.
Result<void> require_interleaved(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view);
// For operations that take no other layout than rows.
Result<void> require_weight_layout(std::string_view operation, std::string_view number, WeightLayout layout);
// For those that take both: rows, or weights as interleaved rows must lie.
Result<void> require_either_layout(std::string_view operation, std::string_view number, std::string_view field,
                                   WeightLayout layout, const ConstAnyView& view);

}  // namespace ingot
