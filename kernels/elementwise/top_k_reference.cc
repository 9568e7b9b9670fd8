// Scalar truth: sort the indices by what the contract says comes first.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/elementwise/top_k.h"
#include "tensor/rows.h"

namespace ingot {

void top_k_reference(const ElementwiseTopK::Arguments& arguments, Context&) {
  const Rows x(arguments.x);
  const Rows values(arguments.values);
  const Rows indices(arguments.indices);
  std::vector<std::int32_t> order(static_cast<std::size_t>(x.length()));
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const float* source = x[row];
    auto is_less = [](float left, float right) { return std::isnan(right) ? !std::isnan(left) : left < right; };
    auto comes_first = [&](std::int32_t left, std::int32_t right) {
      const float smaller = arguments.largest ? source[right] : source[left];
      const float larger = arguments.largest ? source[left] : source[right];
      if (is_less(smaller, larger)) return true;
      return !is_less(larger, smaller) && left < right;
    };
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), comes_first);
    for (std::int64_t j = 0; j < values.length(); ++j) {
      indices[row][j] = order[static_cast<std::size_t>(j)];
      values[row][j] = source[indices[row][j]];
    }
  }
}

void top_k_backward_reference(const ElementwiseTopKBackward::Arguments& arguments, Context&) {
  const Rows indices(arguments.indices);
  const Rows dvalues(arguments.dvalues);
  const Rows dx(arguments.dx);
  for (std::int64_t row = 0; row < dx.count(); ++row) {
    std::fill(dx[row], dx[row] + dx.length(), 0.0f);
    for (std::int64_t j = 0; j < indices.length(); ++j) dx[row][indices[row][j]] += dvalues[row][j];
  }
}

}  // namespace ingot
