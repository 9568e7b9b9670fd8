// Constraint checks with one voice: "norm.rms_norm C2: expected gamma of shape [64], found [32]".
#pragma once

#include <span>

#include "kernels/contract/fields.h"

namespace ingot {

// The error for a violated constraint. `number` is the label the contract's header gives it: "C1", "C2", ...
template <class... Parts>
Error violated(std::string_view operation, std::string_view number, const Parts&... parts) {
  return Error::of(ErrorCode::invalid_argument, operation, " ", number, ": ", parts...);
}

Result<void> require_rank(std::string_view operation, std::string_view number, std::string_view field,
                          const ConstAnyView& view, int rank);
Result<void> require_rank_between(std::string_view operation, std::string_view number, std::string_view field,
                                  const ConstAnyView& view, int lowest, int highest);
Result<void> require_shape(std::string_view operation, std::string_view number, std::string_view field,
                           const ConstAnyView& view, const Shape& shape);
Result<void> require_dtype(std::string_view operation, std::string_view number, std::string_view field,
                           const ConstAnyView& view, std::initializer_list<DType> allowed);
// The last axis is one stretch of elements.
Result<void> require_contiguous_rows(std::string_view operation, std::string_view number, std::string_view field,
                                     const ConstAnyView& view);
Result<void> require_contiguous(std::string_view operation, std::string_view number, std::string_view field,
                                const ConstAnyView& view);
// An output that may be the very elements of an input: the operation can run in place.
struct InPlace {
  std::string_view written;
  std::string_view read;
};

struct BoundTensor {
  std::string_view name;
  Role role;
  Presence presence;
  ConstAnyView view;
};

// C0, the constraint every operation shares:
//   - all tensors lie in one place, the host or one device;
//   - required tensors are there, and every tensor is well formed (sizes, strides, alignment, block multiples);
//   - a written tensor has an address of its own for each element (no zero strides);
//   - a written tensor shares no memory with any other tensor, unless the contract lists the pair in `in_place` and
//   both
//     are exactly the same elements.
Result<void> check_tensors(std::string_view operation, std::span<const BoundTensor> tensors,
                           std::span<const InPlace> in_place);

// Whether two views have a byte in common. Interleaved views (columns of one matrix) are told apart; where strides are
// irregular the answer errs towards yes.
bool may_overlap(const ConstAnyView& first, const ConstAnyView& second);

}  // namespace ingot
