#include "kernels/layout/transpose.h"

#include "kernels/contract/reference_walk.h"

namespace ingot {

void transpose_reference(const Transpose::Arguments& arguments, Context&) {
  move_reference(transposed(arguments.x, arguments.axis_a, arguments.axis_b), arguments.y);
}

void transpose_backward_reference(const TransposeBackward::Arguments& arguments, Context&) {
  move_reference(transposed(ConstAnyView(arguments.dy), arguments.axis_a, arguments.axis_b), AnyView(arguments.dx));
}

}  // namespace ingot
