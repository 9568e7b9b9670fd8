#include "kernels/layout/slice.h"

#include "kernels/contract/reference_walk.h"

namespace ingot {

void slice_reference(const Slice::Arguments& arguments, Context&) {
  move_reference(sliced(arguments.x, arguments.axis, arguments.begin, arguments.end, arguments.step), arguments.y);
}

void slice_backward_reference(const SliceBackward::Arguments& arguments, Context&) {
  const AnyView dx(arguments.dx);
  for_each_pair(dx, dx, [](std::byte* element, std::byte*) { std::memset(element, 0, sizeof(float)); });
  move_reference(ConstAnyView(arguments.dy),
                 sliced(dx, arguments.axis, arguments.begin, arguments.end, arguments.step));
}

}  // namespace ingot
