#include "tensor/shape.h"

namespace ingot {

Result<OffsetRange> offset_range(const Shape& shape, const Strides& strides) {
  if (shape.rank() != strides.rank()) {
    return Error::of(ErrorCode::invalid_argument, "expected a stride for each axis of shape ", shape, ", found ",
                     strides);
  }
  // An axis of 0 makes a view empty, but the other sizes still become loop bounds and products, so they count as well.
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t size : shape) {
    if (size < 0) return Error::of(ErrorCode::invalid_argument, "expected sizes of 0 or more, found shape ", shape);
    empty = empty || size == 0;
    if (__builtin_mul_overflow(count, size == 0 ? 1 : size, &count) || count > most_elements) {
      return Error::of(ErrorCode::overflow, "expected at most 2^48 elements, found shape ", shape);
    }
  }
  OffsetRange range;
  if (empty) return range;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t reach = TRY(checked_multiply(shape[axis] - 1, strides[axis]));
    std::int64_t& bound = reach < 0 ? range.begin : range.end;
    bound = TRY(checked_add(bound, reach));
  }
  range.end = TRY(checked_add(range.end, 1));
  return range;
}

}  // namespace ingot
