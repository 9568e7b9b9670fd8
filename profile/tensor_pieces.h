// The pieces of memory that a call's tensors lie in, for those who take them elsewhere.
#pragma once

#include <span>
#include <vector>

#include "kernels/contract/footprint.h"
#include "kernels/contract/operation.h"

namespace ingot {

// In the order of their addresses; tensors that share bytes lie in one. The first is empty: that of all tensors without
// elements.
std::vector<Footprint> tensor_pieces(const Operation& operation, const Invocation& invocation);

// Which of them the view lies in. Precondition: they are of the call that the view is a tensor of.
std::size_t piece_of(const ConstAnyView& view, std::span<const Footprint> pieces);

// The call with its tensors at that place: `homes` are the addresses there of each of the pieces.
Result<std::unique_ptr<Invocation>> moved_call(const Operation& operation, const Invocation& original,
                                               std::span<const Footprint> pieces, std::span<std::byte* const> homes,
                                               Place place);

}  // namespace ingot
