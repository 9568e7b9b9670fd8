// Scalar truth. Sums run in double: a float sum of thousands of terms is not exact enough to measure others against.
#include <cmath>

#include "kernels/elementwise/reduce.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

// NaN is larger than every number; of equals the first.
std::int64_t place_of_maximum(const float* x, std::int64_t length) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < length && !std::isnan(x[best]); ++i) {
    if (std::isnan(x[i]) || x[i] > x[best]) best = i;
  }
  return best;
}

}  // namespace

template <class Op>
void reduce_reference(const typename Op::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  for (std::int64_t row = 0; row < x.count(); ++row) {
    if constexpr (std::is_same_v<Op, Argmax>) {
      arguments.indices.data()[row] = static_cast<std::int32_t>(place_of_maximum(x[row], x.length()));
    } else if constexpr (std::is_same_v<Op, ReduceMax>) {
      arguments.y.data()[row] = x[row][place_of_maximum(x[row], x.length())];
    } else {
      double sum = 0;
      for (std::int64_t i = 0; i < x.length(); ++i) {
        sum += std::is_same_v<Op, ReduceSumOfSquares> ? double{x[row][i]} * x[row][i] : x[row][i];
      }
      if (std::is_same_v<Op, ReduceMean>) sum /= static_cast<double>(x.length());
      arguments.y.data()[row] = static_cast<float>(sum);
    }
  }
}

template <class Op>
void reduce_backward_reference(const typename Op::Arguments& arguments, Context&) {
  const Rows dx(arguments.dx);
  for (std::int64_t row = 0; row < dx.count(); ++row) {
    const double dy = arguments.dy.data()[row];
    for (std::int64_t i = 0; i < dx.length(); ++i) {
      if constexpr (std::is_same_v<Op, ReduceSumBackward>) {
        dx[row][i] = static_cast<float>(dy);
      } else if constexpr (std::is_same_v<Op, ReduceMeanBackward>) {
        dx[row][i] = static_cast<float>(dy / static_cast<double>(dx.length()));
      } else if constexpr (std::is_same_v<Op, ReduceSumOfSquaresBackward>) {
        dx[row][i] = static_cast<float>(2 * dy * Rows(arguments.x)[row][i]);
      } else {
        dx[row][i] = 0;
      }
    }
    if constexpr (std::is_same_v<Op, ReduceMaxBackward>) {
      dx[row][place_of_maximum(Rows(arguments.x)[row], dx.length())] = static_cast<float>(dy);
    }
  }
}

template void reduce_reference<ReduceSum>(const ReductionArguments&, Context&);
template void reduce_reference<ReduceMean>(const ReductionArguments&, Context&);
template void reduce_reference<ReduceSumOfSquares>(const ReductionArguments&, Context&);
template void reduce_reference<ReduceMax>(const ReductionArguments&, Context&);
template void reduce_reference<Argmax>(const ArgmaxArguments&, Context&);
template void reduce_backward_reference<ReduceSumBackward>(const SpreadArguments&, Context&);
template void reduce_backward_reference<ReduceMeanBackward>(const SpreadArguments&, Context&);
template void reduce_backward_reference<ReduceSumOfSquaresBackward>(const ReductionBackwardArguments&, Context&);
template void reduce_backward_reference<ReduceMaxBackward>(const ReductionBackwardArguments&, Context&);

}  // namespace ingot
