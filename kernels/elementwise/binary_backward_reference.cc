// Scalar truth: terms and sums in double.
#include "kernels/elementwise/binary_backward.h"
#include "kernels/elementwise/repeated_sum.h"

namespace ingot {
namespace {

// Addition has no use for a and b: dy stands in for them, and is not used.
template <class Arguments>
struct BackwardOperands {
  const Arguments& arguments;
  View<const float> a() const {
    if constexpr (requires { arguments.a; })
      return arguments.a;
    else
      return arguments.dy;
  }
  View<const float> b() const {
    if constexpr (requires { arguments.b; })
      return arguments.b;
    else
      return arguments.dy;
  }
};

}  // namespace

template <class Op>
void binary_backward_reference(const typename Op::Arguments& arguments, Context&) {
  const Shape& shape = arguments.dy.shape();
  const BackwardOperands<typename Op::Arguments> operands{arguments};
  const View<const float> a = operands.a();
  const View<const float> b = operands.b();
  enum { db, dy, da, first, second };
  const std::array<Strides, 5> strides = {strides_within(arguments.db, shape), arguments.dy.strides(),
                                          arguments.da.strides(), a.strides(), strides_within(b, shape)};
  const RepeatedSum<5> walk(shape, arguments.db.shape(), strides);
  auto at = [&](const auto& kept, const auto& repeated, int tensor, std::int64_t column) {
    return kept[tensor] + repeated[tensor] + column * strides[tensor].last();
  };
  // The sum comes first: da may be dy.
  const std::int64_t columns = walk.keeps_last ? walk.length : 1;
  for (std::int64_t row = 0; row < walk.kept.count(); ++row) {
    const auto kept = walk.kept[row];
    for (std::int64_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::int64_t index = 0; index < walk.repeated.count(); ++index) {
        const auto repeated = walk.repeated[index];
        for (std::int64_t i = column; i < (walk.keeps_last ? column + 1 : walk.length); ++i) {
          sum += Op::db(arguments.dy.data()[at(kept, repeated, dy, i)], a.data()[at(kept, repeated, first, i)],
                        b.data()[at(kept, repeated, second, i)]);
        }
      }
      arguments.db.data()[at(kept, Offsets<5>{}, db, column)] = static_cast<float>(sum);
    }
  }
  for (std::int64_t row = 0; row < walk.kept.count(); ++row) {
    for (std::int64_t index = 0; index < walk.repeated.count(); ++index) {
      const auto kept = walk.kept[row];
      const auto repeated = walk.repeated[index];
      for (std::int64_t i = 0; i < walk.length; ++i) {
        arguments.da.data()[at(kept, repeated, da, i)] =
            static_cast<float>(Op::da(arguments.dy.data()[at(kept, repeated, dy, i)],
                                      a.data()[at(kept, repeated, first, i)], b.data()[at(kept, repeated, second, i)]));
      }
    }
  }
}

template void binary_backward_reference<AddBackward>(const AdditiveBackwardArguments&, Context&);
template void binary_backward_reference<SubtractBackward>(const AdditiveBackwardArguments&, Context&);
template void binary_backward_reference<MultiplyBackward>(const ProductBackwardArguments&, Context&);
template void binary_backward_reference<DivideBackward>(const ProductBackwardArguments&, Context&);

}  // namespace ingot
