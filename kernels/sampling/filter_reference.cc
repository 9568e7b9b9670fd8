// Scalar truth: sort the tokens by likelihood, and keep the first few.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/sampling/filter.h"
#include "kernels/sampling/weight.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

constexpr float masked_logit = -std::numeric_limits<float>::infinity();

// The row with NaN read as -inf.
std::vector<float> readable_row(const float* logits, std::int64_t tokens) {
  std::vector<float> row(logits, logits + tokens);
  for (float& logit : row) {
    if (std::isnan(logit)) logit = masked_logit;
  }
  return row;
}

// Likeliest first, of equals the lower index.
std::vector<std::size_t> by_likelihood(const std::vector<float>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return row[left] > row[right]; });
  return order;
}

std::size_t kept_by_top_p(const std::vector<float>& row, const std::vector<std::size_t>& order, float p) {
  const float largest = row[order[0]];
  if (p == 1 || largest == masked_logit) return row.size();
  double total = 0;
  for (std::size_t begin = 0; begin < row.size(); begin += sampling::block_tokens) {
    const auto rest = static_cast<std::int64_t>(row.size() - begin);
    total += sampling::block_sum(row.data() + begin, std::min(sampling::block_tokens, rest), largest);
  }
  double sum = 0;
  for (std::size_t kept = 0; kept < row.size(); ++kept) {
    sum += sampling::weight(row[order[kept]], largest);
    if (sum >= p * total) return kept + 1;
  }
  return row.size();
}

}  // namespace

template <class Op>
void filter_reference(const typename Op::Arguments& arguments, Context&) {
  const Rows logits(arguments.logits);
  const Rows y(arguments.y);
  for (std::int64_t r = 0; r < logits.count(); ++r) {
    if constexpr (std::is_same_v<Op, Temperature>) {
      for (std::int64_t i = 0; i < y.length(); ++i) {
        y[r][i] = static_cast<float>(double{logits[r][i]} / arguments.limit);
      }
    } else {
      const std::vector<float> row = readable_row(logits[r], y.length());
      if constexpr (std::is_same_v<Op, MinP>) {
        const float largest = *std::max_element(row.begin(), row.end());
        const float distance = sampling::least_distance(arguments.limit);
        for (std::size_t i = 0; i < row.size(); ++i) {
          y[r][i] = row[i] == largest || row[i] - largest >= distance ? row[i] : masked_logit;
        }
      } else {
        const std::vector<std::size_t> order = by_likelihood(row);
        std::size_t kept = row.size();
        if constexpr (std::is_same_v<Op, TopP>)
          kept = kept_by_top_p(row, order, arguments.limit);
        else
          kept = static_cast<std::size_t>(std::min(arguments.limit, y.length()));
        std::fill(y[r], y[r] + y.length(), masked_logit);
        for (std::size_t i = 0; i < kept; ++i) y[r][order[i]] = row[order[i]];
      }
    }
  }
}

template void filter_reference<Temperature>(const Temperature::Arguments&, Context&);
template void filter_reference<SamplingTopK>(const SamplingTopK::Arguments&, Context&);
template void filter_reference<TopP>(const TopP::Arguments&, Context&);
template void filter_reference<MinP>(const MinP::Arguments&, Context&);

}  // namespace ingot
