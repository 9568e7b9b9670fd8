// Scalar truth. A sum of two floats rounds the same in float as in double, so the forward needs no double.
#include "kernels/position/learned.h"

#include <vector>

namespace ingot {

void learned_reference(const Learned::Arguments& a, Context&) {
  for (std::int64_t token = 0; token < a.x.size(0); ++token) {
    for (std::int64_t d = 0; d < a.x.size(1); ++d) a.y(token, d) = a.x(token, d) + a.table(a.positions(token), d);
  }
}

void learned_backward_reference(const LearnedBackward::Arguments& a, Context&) {
  const std::int64_t width = a.dy.size(1);
  std::vector<double> sums(static_cast<std::size_t>(a.dtable.count()), 0.0);
  for (std::int64_t token = 0; token < a.dy.size(0); ++token) {
    for (std::int64_t d = 0; d < width; ++d) {
      sums[static_cast<std::size_t>(a.positions(token) * width + d)] += double{a.dy(token, d)};
      if (is_present(a.dx)) a.dx(token, d) = a.dy(token, d);
    }
  }
  for (std::int64_t row = 0; row < a.dtable.size(0); ++row) {
    for (std::int64_t d = 0; d < width; ++d) {
      a.dtable(row, d) = static_cast<float>(sums[static_cast<std::size_t>(row * width + d)]);
    }
  }
}

}  // namespace ingot
