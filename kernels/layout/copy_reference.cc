#include "kernels/contract/reference_walk.h"
#include "kernels/layout/copy.h"

namespace ingot {

void copy_reference(const Copy::Arguments& arguments, Context&) { move_reference(arguments.x, arguments.y); }

void copy_backward_reference(const CopyBackward::Arguments& arguments, Context&) {
  move_reference(ConstAnyView(arguments.dy), AnyView(arguments.dx));
}

}  // namespace ingot
