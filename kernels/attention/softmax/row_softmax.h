// Scalar truth shared by every softmax of the family: the exponentials of a row of scores and their sum, in double.
//
// The maximum is taken out first, so that nothing overflows. A row whose scores are all -infinity has sum 0: its
// weights are 0 and its log-sum-exp is -infinity. A NaN or +infinity among the scores makes the whole row NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace ingot {

struct RowSum {
  double maximum = 0;  // what was taken out
  double sum = 0;      // of the exponentials, the sink's included

  double inverse() const { return sum == 0 ? 0 : 1 / sum; }
  double log_sum_exp() const { return sum == 0 ? -std::numeric_limits<double>::infinity() : maximum + std::log(sum); }
};

// Replaces each score by e^(score - maximum). A sink is one more logit, which only the sum sees; -infinity: none.
inline RowSum exponentiate(std::span<double> scores, double sink = -std::numeric_limits<double>::infinity()) {
  RowSum row;
  row.maximum = sink;
  for (double score : scores) row.maximum = std::max(row.maximum, score);
  if (row.maximum == -std::numeric_limits<double>::infinity()) row.maximum = 0;
  row.sum = std::exp(sink - row.maximum);
  for (double& score : scores) row.sum += score = std::exp(score - row.maximum);
  return row;
}

}  // namespace ingot
