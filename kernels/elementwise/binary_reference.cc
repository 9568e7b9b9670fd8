// Scalar truth: the operation in double, rounded once.
#include "kernels/elementwise/axis_walk.h"
#include "kernels/elementwise/binary.h"

namespace ingot {

template <class Op>
void binary_reference(const BinaryArguments& arguments, Context&) {
  const Shape& shape = arguments.a.shape();
  AxisWalk<3> walk;
  const Strides b = strides_within(arguments.b, shape);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    walk.add(shape[axis], {arguments.y.stride(axis), arguments.a.stride(axis), b[axis]});
  }
  for (std::int64_t index = 0; index < walk.count(); ++index) {
    const Offsets<3> at = walk[index];
    arguments.y.data()[at[0]] = static_cast<float>(Op::apply(arguments.a.data()[at[1]], arguments.b.data()[at[2]]));
  }
}

template void binary_reference<Add>(const BinaryArguments&, Context&);
template void binary_reference<Subtract>(const BinaryArguments&, Context&);
template void binary_reference<Multiply>(const BinaryArguments&, Context&);
template void binary_reference<Divide>(const BinaryArguments&, Context&);

}  // namespace ingot
