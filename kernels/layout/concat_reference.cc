#include "kernels/layout/concat.h"

#include "kernels/contract/reference_walk.h"

namespace ingot {

void concat_reference(const Concat::Arguments& arguments, Context&) {
  const std::int64_t axis = arguments.axis;
  for_each_part(arguments.parts(), axis, [&](const ConstAnyView& part, std::int64_t begin) {
    move_reference(part, sliced(arguments.y, axis, begin, begin + part.size(static_cast<int>(axis))));
  });
}

void concat_backward_reference(const ConcatBackward::Arguments& arguments, Context&) {
  const std::int64_t axis = arguments.axis;
  for_each_part(arguments.parts(), axis, [&](const View<float>& part, std::int64_t begin) {
    move_reference(sliced(ConstAnyView(arguments.dy), axis, begin, begin + part.size(static_cast<int>(axis))),
                   AnyView(part));
  });
}

}  // namespace ingot
