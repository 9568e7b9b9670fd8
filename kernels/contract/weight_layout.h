// What contracts ask of weights in an execution layout (tensor/interleaved.h, tensor/planes.h).
#pragma once

#include "kernels/contract/constraints.h"
#include "tensor/planes.h"

namespace ingot {

// A type that can be interleaved, a matrix of whole eights of rows.
Result<void> require_can_interleave(std::string_view operation, std::string_view number, std::string_view field,
                                    const ConstAnyView& view);
// The same, contiguous: as interleaved rows must lie.
Result<void> require_interleaved(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view);
// For operations that take no other layout than rows.
Result<void> require_weight_layout(std::string_view operation, std::string_view number, WeightLayout layout);
// What a layout can be made of: interleaved8 as above; planes16 of a type that has planes, a matrix of whole sixteens
// of rows, whole spans of 256 long.
Result<void> require_can_pack(std::string_view operation, std::string_view number, std::string_view field,
                              WeightLayout layout, const ConstAnyView& view);
// For those that take any: rows, or weights as packed ones must lie.
Result<void> require_any_layout(std::string_view operation, std::string_view number, std::string_view field,
                                WeightLayout layout, const ConstAnyView& view);

}  // namespace ingot
