// Scalar truth, in double. Both directions are the same sum over (output, tap) pairs.
#include <vector>

#include "kernels/linear/convolution/conv2d.h"

namespace ingot {
namespace {

// Calls visit(b, n, i, j, c, u, v, row, column) for every product of the convolution.
template <class Arguments, class Visit>
void for_each_tap(const Arguments& a, const Shape& y, Visit&& visit) {
  for (std::int64_t b = 0; b < y[0]; ++b)
    for (std::int64_t n = 0; n < y[1]; ++n)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j)
          for (std::int64_t c = 0; c < a.weights.size(1); ++c)
            for (std::int64_t u = 0; u < a.weights.size(2); ++u)
              for (std::int64_t v = 0; v < a.weights.size(3); ++v) {
                const ConvolutionPixel pixel = convolution_pixel(a, i, j, u, v);
                if (pixel.is_inside) visit(b, n, i, j, c, u, v, pixel.row, pixel.column);
              }
}

// Sums in double for a tensor that is stored in float: one slot an element, addressed by packed index.
class DoubleTensor {
 public:
  explicit DoubleTensor(const Shape& shape)
      : strides_(contiguous_strides(shape)), sums_(static_cast<std::size_t>(element_count(shape))) {}
  double& operator()(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return sums_[static_cast<std::size_t>(a * strides_[0] + b * strides_[1] + c * strides_[2] + d * strides_[3])];
  }
  void store(const View<float>& view) {
    for (std::int64_t a = 0; a < view.size(0); ++a)
      for (std::int64_t b = 0; b < view.size(1); ++b)
        for (std::int64_t c = 0; c < view.size(2); ++c)
          for (std::int64_t d = 0; d < view.size(3); ++d) view(a, b, c, d) = static_cast<float>((*this)(a, b, c, d));
  }

 private:
  Strides strides_;
  std::vector<double> sums_;
};

}  // namespace

void conv2d_reference(const Conv2d::Arguments& a, Context&) {
  DoubleTensor sums(a.y.shape());
  for (std::int64_t b = 0; b < a.y.size(0); ++b)
    for (std::int64_t n = 0; n < a.y.size(1); ++n)
      for (std::int64_t i = 0; i < a.y.size(2); ++i)
        for (std::int64_t j = 0; j < a.y.size(3); ++j) sums(b, n, i, j) = is_present(a.bias) ? a.bias(n) : 0.0f;
  for_each_tap(a, a.y.shape(), [&](auto b, auto n, auto i, auto j, auto c, auto u, auto v, auto row, auto column) {
    sums(b, n, i, j) += double{a.x(b, c, row, column)} * a.weights(n, c, u, v);
  });
  sums.store(a.y);
}

void conv2d_backward_reference(const Conv2dBackward::Arguments& a, Context&) {
  DoubleTensor dx(a.x.shape());
  DoubleTensor dweights(a.weights.shape());
  for_each_tap(a, a.dy.shape(), [&](auto b, auto n, auto i, auto j, auto c, auto u, auto v, auto row, auto column) {
    dx(b, c, row, column) += double{a.dy(b, n, i, j)} * a.weights(n, c, u, v);
    dweights(n, c, u, v) += double{a.dy(b, n, i, j)} * a.x(b, c, row, column);
  });
  if (is_present(a.dx)) dx.store(a.dx);
  if (is_present(a.dweights)) dweights.store(a.dweights);
  for (std::int64_t n = 0; is_present(a.dbias) && n < a.dy.size(1); ++n) {
    double sum = 0;
    for (std::int64_t b = 0; b < a.dy.size(0); ++b)
      for (std::int64_t i = 0; i < a.dy.size(2); ++i)
        for (std::int64_t j = 0; j < a.dy.size(3); ++j) sum += a.dy(b, n, i, j);
    a.dbias(n) = static_cast<float>(sum);
  }
}

}  // namespace ingot
