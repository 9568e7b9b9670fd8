#include "tensor/shape.h"

namespace ingot {

Result<OffsetRange> offset_range(const Shape& shape, const Strides& strides) {
  if (shape.rank() != strides.rank()) {
    return Error::of(ErrorCode::invalid_argument, "expected a stride for each axis of shape ", shape, ", found ",
                     strides);
  }
  bool empty = false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 0) {
      return Error::of(ErrorCode::invalid_argument, "expected sizes of 0 or more, found shape ", shape);
    }
    empty = empty || shape[axis] == 0;
  }
  OffsetRange range;
  if (empty) return range;
  std::int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    count = TRY(checked_multiply(count, shape[axis]));
    const std::int64_t reach = TRY(checked_multiply(shape[axis] - 1, strides[axis]));
    std::int64_t& bound = reach < 0 ? range.begin : range.end;
    bound = TRY(checked_add(bound, reach));
  }
  range.end = TRY(checked_add(range.end, 1));
  return range;
}

}  // namespace ingot
