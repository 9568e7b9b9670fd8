// Statistics for the cases of backward operations: the ones their forward would have saved for x.
#pragma once

#include <cmath>

#include "kernels/contract/case_builder.h"
#include "kernels/norm/shapes.h"
#include "tensor/rows.h"

namespace ingot {

struct CaseStatistics {
  View<const float> mean;
  View<const float> rstd;
};

// Over rows of `length` neighbours of a contiguous or row-wise x. `center`: whether the mean is subtracted; `divisor`:
// what the sum of squares is divided by.
enum class Centering : std::uint8_t { none, mean };

inline CaseStatistics statistics_of(CaseBuilder& builder, const View<const float>& x, const Shape& shape,
                                    Centering centering, double divisor) {
  const View<float> mean = builder.filled(shape, Fill::constant(0), Packing::contiguous);
  const View<float> rstd = builder.filled(shape, Fill::constant(1), Packing::contiguous);
  const Rows rows(x);
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    double center = 0;
    if (centering == Centering::mean) {
      for (std::int64_t i = 0; i < rows.length(); ++i) center += rows[row][i];
      center /= static_cast<double>(rows.length());
    }
    double squares = 0;
    for (std::int64_t i = 0; i < rows.length(); ++i) squares += (rows[row][i] - center) * (rows[row][i] - center);
    mean.data()[row] = static_cast<float>(center);
    rstd.data()[row] = static_cast<float>(1 / std::sqrt(squares / divisor + 1e-5));
  }
  return {mean, rstd};
}

}  // namespace ingot
