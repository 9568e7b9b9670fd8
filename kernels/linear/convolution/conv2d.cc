#include "kernels/linear/convolution/conv2d.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/convolution/conv2d_cases.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

// How many places a filter of `taps` takes on an axis. Precondition: the arguments were checked.
std::int64_t places(std::int64_t size, std::int64_t padding, std::int64_t taps, std::int64_t stride) {
  return (size + 2 * padding - taps) / stride + 1;
}

// C1 to C3 of both directions. Gives the shape of the output.
template <class Op>
Result<Shape> convolution_shape(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 4));
  TRY(require_contiguous_rows(Op::name, "C1", "x", a.x));
  TRY(require_rank(Op::name, "C2", "weights", a.weights, 4));
  const std::int64_t height = a.weights.size(2);
  const std::int64_t width = a.weights.size(3);
  TRY(require_shape(Op::name, "C2", "weights", a.weights, {a.weights.size(0), a.x.size(1), height, width}));
  TRY(require_contiguous(Op::name, "C2", "weights", a.weights));
  if (height < 1 || width < 1) {
    return violated(Op::name, "C2", "expected filters of at least 1 x 1, found ", a.weights.shape());
  }
  if (a.stride_height < 1 || a.stride_width < 1) {
    return violated(Op::name, "C3", "expected strides of 1 or more, found ", a.stride_height, " x ", a.stride_width);
  }
  if (a.padding_height < 0 || a.padding_width < 0 || a.padding_height >= height || a.padding_width >= width) {
    return violated(Op::name, "C3", "expected paddings of 0 or more and below ", height, " x ", width, ", found ",
                    a.padding_height, " x ", a.padding_width);
  }
  if (a.x.size(2) + 2 * a.padding_height < height || a.x.size(3) + 2 * a.padding_width < width) {
    return violated(Op::name, "C3", "expected an image that holds a ", height, " x ", width, " filter, found x ",
                    a.x.shape());
  }
  return Shape{a.x.size(0), a.weights.size(0), places(a.x.size(2), a.padding_height, height, a.stride_height),
               places(a.x.size(3), a.padding_width, width, a.stride_width)};
}

double convolution_operations(const View<const float>& weights, const ConstAnyView& y) {
  const std::int64_t depth = weights.size(1) * weights.size(2) * weights.size(3);
  return 2.0 * static_cast<double>(y.count()) * static_cast<double>(depth);
}

}  // namespace

Result<void> Conv2d::check(const Arguments& a) {
  const Shape shape = TRY(convolution_shape<Conv2d>(a));
  if (is_present(a.bias)) TRY(require_packed(name, "C4", "bias", a.bias, {a.weights.size(0)}));
  return require_packed(name, "C5", "y", a.y, shape);
}

Cost Conv2d::cost(const Arguments& a) {
  return {.operations = convolution_operations(a.weights, a.y),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.weights),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance Conv2d::tolerance(const Arguments& a) {
  return sum_tolerance(a.weights.size(1) * a.weights.size(2) * a.weights.size(3) + 1, a.x, a.weights);
}

std::span<const Variant<Conv2d>> Conv2d::variants() {
  static constexpr auto patches = [](const Arguments& a, int threads) {
    const std::int64_t depth = a.weights.size(1) * a.weights.size(2) * a.weights.size(3);
    return static_cast<std::size_t>(depth) * sizeof(float) * static_cast<std::size_t>(threads);
  };
  static const Variant<Conv2d> table[] = {
      conv2d_cuda,
      INGOT_SIMD_ROWS(conv2d_simd, nullptr, patches),
      {"reference", {}, conv2d_reference},
  };
  return table;
}

Result<void> Conv2dBackward::check(const Arguments& a) {
  const Shape shape = TRY(convolution_shape<Conv2dBackward>(a));
  TRY(require_shape(name, "C5", "dy", a.dy, shape));
  if (is_present(a.dx)) TRY(require_packed(name, "C5", "dx", a.dx, a.x.shape()));
  if (is_present(a.dweights)) TRY(require_packed(name, "C5", "dweights", a.dweights, a.weights.shape()));
  if (is_present(a.dbias)) TRY(require_packed(name, "C5", "dbias", a.dbias, {a.weights.size(0)}));
  return {};
}

Cost Conv2dBackward::cost(const Arguments& a) {
  return {.operations = 2 * convolution_operations(a.weights, a.dy),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.weights) + stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.x) + stored_bytes(a.weights)};
}

Tolerance Conv2dBackward::tolerance(const Arguments& a) { return sum_tolerance(a.dy.count(), a.dy, a.x); }

std::span<const Variant<Conv2dBackward>> Conv2dBackward::variants() {
  static const Variant<Conv2dBackward> table[] = {{"reference", {}, conv2d_backward_reference}};
  return table;
}

template const Operation& describe_operation<Conv2d>();
template const Operation& describe_operation<Conv2dBackward>();

}  // namespace ingot
