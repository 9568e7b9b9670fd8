// Scalar truth of the derivatives, in double.
#include <vector>

#include "kernels/linear/matmul/matmul_backward.h"
#include "tensor/block_codec.h"

namespace ingot {

void matmul_backward_input_reference(const MatmulBackwardInput::Arguments& arguments, Context&) {
  const std::int64_t depth = arguments.weights.size(0);
  const std::int64_t columns = arguments.dx.size(1);
  const auto count = static_cast<std::size_t>(columns);
  const std::int64_t rows = arguments.dx.size(0);
  if (rows == 0 || columns == 0) return;
  std::vector<double> sums(static_cast<std::size_t>(rows) * count, 0.0);
  std::vector<float> weights(count);
  for (std::int64_t n = 0; n < depth; ++n) {
    decode_row(arguments.weights.dtype(), arguments.weights.row(n), weights.data(), columns);
    for (std::int64_t m = 0; m < rows; ++m) {
      double* row = sums.data() + static_cast<std::size_t>(m) * count;
      for (std::size_t k = 0; k < count; ++k) row[k] += double{arguments.dy(m, n)} * double{weights[k]};
    }
  }
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t k = 0; k < columns; ++k) {
      arguments.dx(m, k) = static_cast<float>(sums[static_cast<std::size_t>(m * columns + k)]);
    }
  }
}

void matmul_backward_weight_reference(const MatmulBackwardWeight::Arguments& arguments, Context&) {
  for (std::int64_t n = 0; n < arguments.dweights.size(0); ++n) {
    for (std::int64_t k = 0; k < arguments.dweights.size(1); ++k) {
      double sum = 0;
      for (std::int64_t m = 0; m < arguments.x.size(0); ++m)
        sum += double{arguments.dy(m, n)} * double{arguments.x(m, k)};
      arguments.dweights(n, k) = static_cast<float>(sum);
    }
  }
}

void matmul_backward_bias_reference(const MatmulBackwardBias::Arguments& arguments, Context&) {
  for (std::int64_t n = 0; n < arguments.dbias.size(0); ++n) {
    double sum = 0;
    for (std::int64_t m = 0; m < arguments.dy.size(0); ++m) sum += double{arguments.dy(m, n)};
    arguments.dbias(n) = static_cast<float>(sum);
  }
}

}  // namespace ingot
