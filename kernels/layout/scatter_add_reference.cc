#include "kernels/layout/scatter_add.h"

#include <vector>

#include "tensor/rows.h"

namespace ingot {

// A row of y at a time, so that its sums can run in double; the scan over all indices for each row is the price.
void add_rows_reference(const View<const float>& base, const View<const float>& x,
                        const View<const std::int32_t>& indices, const View<float>& y) {
  const std::int64_t width = y.size(1);
  const std::int64_t count = indices.count();
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::int64_t row = 0; row < y.size(0); ++row) {
    for (std::int64_t j = 0; j < width; ++j) sums[static_cast<std::size_t>(j)] = is_present(base) ? base(row, j) : 0.0f;
    for (std::int64_t i = 0; i < count; ++i) {
      if (indices.data()[i] != row) continue;
      const float* added = Rows(x)[i];
      for (std::int64_t j = 0; j < width; ++j) sums[static_cast<std::size_t>(j)] += added[j];
    }
    for (std::int64_t j = 0; j < width; ++j) y(row, j) = static_cast<float>(sums[static_cast<std::size_t>(j)]);
  }
}

void scatter_add_reference(const ScatterAdd::Arguments& arguments, Context&) {
  add_rows_reference(arguments.base, arguments.x, arguments.indices, arguments.y);
}

void scatter_add_backward_reference(const ScatterAddBackward::Arguments& arguments, Context&) {
  const View<const float>& dy = arguments.dy;
  const std::int64_t width = dy.size(1);
  const std::int64_t count = arguments.indices.count();
  for (std::int64_t i = 0; i < count; ++i) {
    float* dx = Rows(arguments.dx)[i];
    for (std::int64_t j = 0; j < width; ++j) dx[j] = dy(arguments.indices.data()[i], j);
  }
  if (!is_present(arguments.dbase)) return;
  for (std::int64_t row = 0; row < dy.size(0); ++row) {
    for (std::int64_t j = 0; j < width; ++j) arguments.dbase(row, j) = dy(row, j);
  }
}

}  // namespace ingot
