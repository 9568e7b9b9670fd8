// What the contracts of this family share about shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/contract/contract.h"
#include "kernels/contract/magnitude.h"

namespace ingot {

inline Shape without_last_axis(const Shape& shape) {
  Shape shorter;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) shorter.push_back(shape[axis]);
  return shorter;
}

// x of rank 1 and more, whose last axis is what is normalised: at least one element, packed.
inline Result<void> require_normalised_axis(std::string_view operation, std::string_view number,
                                            const ConstAnyView& x) {
  TRY(require_rank_between(operation, number, "x", x, 1, max_rank));
  if (x.shape().last() < 1) {
    return violated(operation, number, "expected a last axis of 1 or more, found x ", x.shape());
  }
  return require_contiguous_rows(operation, number, "x", x);
}

// A tensor of a given shape with a packed last axis.
inline Result<void> require_rows(std::string_view operation, std::string_view number, std::string_view field,
                                 const ConstAnyView& view, const Shape& shape) {
  TRY(require_shape(operation, number, field, view, shape));
  return require_contiguous_rows(operation, number, field, view);
}

// One number a row: a contiguous tensor of a given shape.
inline Result<void> require_row_statistic(std::string_view operation, std::string_view number, std::string_view field,
                                          const ConstAnyView& view, const Shape& shape) {
  TRY(require_shape(operation, number, field, view, shape));
  return require_contiguous(operation, number, field, view);
}

inline Result<void> require_epsilon(std::string_view operation, std::string_view number, float epsilon) {
  if (std::isfinite(epsilon) && epsilon >= 0) return {};
  return violated(operation, number, "expected a finite epsilon of 0 or more, found one that is not");
}

// Gradients of shared parameters are sums over all rows. Rows are cut into at most this many parts; each part sums
// into its own row of scratch, and the parts are added in order, so that the result does not depend on the threads.
inline constexpr std::int64_t most_row_parts = 32;

inline std::int64_t rows_per_part(std::int64_t rows, std::int64_t bytes_per_row) {
  return std::max(rows_per_chunk(bytes_per_row), divide_rounding_up(rows, most_row_parts));
}

inline std::int64_t row_part_count(std::int64_t rows, std::int64_t bytes_per_row) {
  return rows == 0 ? 0 : divide_rounding_up(rows, rows_per_part(rows, bytes_per_row));
}

// The largest |x| rstd over each `length` neighbours: (x - mean) rstd has the rounding of its terms, which are
// larger than it where their mean is large against its spread.
inline double largest_before_centring(const View<const float>& x, std::int64_t length, double epsilon) {
  std::vector<double> neighbours;
  double largest = 0;
  if (x.data() == nullptr || x.empty()) return largest;
  for_each_block(x, [&](std::int64_t offset) {
    neighbours.push_back(x.data()[offset / static_cast<std::int64_t>(sizeof(float))]);
    if (static_cast<std::int64_t>(neighbours.size()) < length) return;
    double mean = 0;
    double variance = 0;
    double magnitude = 0;
    for (const double value : neighbours) mean += value / static_cast<double>(length);
    for (const double value : neighbours) variance += (value - mean) * (value - mean) / static_cast<double>(length);
    for (const double value : neighbours) magnitude = std::max(magnitude, std::fabs(value));
    const double scaled = magnitude / std::sqrt(variance + epsilon);
    if (std::isfinite(scaled)) largest = std::max(largest, scaled);
    neighbours.clear();
  });
  return largest;
}

// Scratch for one partial row of x's width a part, where a row of x costs `tensors` rows of memory traffic.
inline std::size_t partial_rows_bytes(const View<const float>& x, std::int64_t tensors, std::int64_t partials = 1) {
  const std::int64_t width = x.shape().last();
  const std::int64_t rows = x.count() / width;
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(sizeof(float));
  return static_cast<std::size_t>(row_part_count(rows, tensors * row_bytes) * partials * row_bytes);
}

}  // namespace ingot
