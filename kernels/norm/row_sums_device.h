// What norms sum up of rows on a device.
#pragma once

#include "kernels/device/row_walk.h"

namespace ingot::device {

// The sum of a row's squares, by the whole team: groups in float, their sums in double, so that long rows lose no more
// than short ones. Float squares leave their range beyond 1e19 and below 1e-19: rows where that shows in a result to
// which `epsilon` is added are summed again in double.
struct SumOfSquares {
  double sum = 0;

  INGOT_ON_DEVICE void add(const float (&group)[group_floats]) {
    float squares = group[0] * group[0];
    INGOT_UNROLL
    for (unsigned i = 1; i < group_floats; ++i) squares = fused_multiply_add(group[i], group[i], squares);
    sum += static_cast<double>(squares);
  }
  INGOT_ON_DEVICE void add_carefully(const float (&group)[group_floats]) {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      const auto value = static_cast<double>(group[i]);
      sum = fused_multiply_add(value, value, sum);
    }
  }
  // Of a team's sum.
  static INGOT_ON_DEVICE bool is_sound(double sum, float epsilon) {
    return sum <= 1e37 && (sum >= 1e-25 || epsilon >= 1e-18f);
  }
};

// `take` makes of what was loaded the group whose squares are summed (kernels/device/row_walk.h).
template <class Row, class Load, class Take, class Again>
INGOT_ON_DEVICE double sum_of_squares(Row& row, unsigned length, Load&& load, Take&& take, Again&& load_again,
                                      float epsilon) {
  using Workers = typename Row::Workers;
  SumOfSquares squares;
  row.first(load, [&](const auto& loaded, float(&group)[group_floats], unsigned at) {
    take(loaded, group, at);
    squares.add(group);
  });
  const double sum = Workers::sum(squares.sum);
  if (SumOfSquares::is_sound(sum, epsilon)) return sum;
  SumOfSquares careful;
  walk_slowly<Workers>(length, load_again,
                       [&](const float(&group)[group_floats], unsigned) { careful.add_carefully(group); });
  return Workers::sum(careful.sum);
}

// 1 / sqrt(mean + epsilon). In float but for means that float does not hold: one rounding before the root, whose half
// counts, one of the root and one of the quotient.
INGOT_ON_DEVICE float reciprocal_root(double mean, float epsilon) {
  const double whole = mean + static_cast<double>(epsilon);
  if (whole > 1e-30 && whole < 1e30) return 1 / square_root(static_cast<float>(whole));
  return static_cast<float>(1 / square_root(whole));
}

}  // namespace ingot::device
