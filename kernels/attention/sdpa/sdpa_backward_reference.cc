// Scalar truth: one pair of query and key at a time, gradients gathered in double.
#include <limits>
#include <vector>

#include "kernels/attention/sdpa/sdpa_backward.h"
#include "kernels/attention/sdpa/sdpa_scores.h"

namespace ingot {
namespace {

double dot_in_double(const float* left, const float* right, std::int64_t length) {
  double sum = 0;
  for (std::int64_t d = 0; d < length; ++d) sum += double{left[d]} * right[d];
  return sum;
}

void add_scaled(double factor, const float* row, double* sum, std::int64_t length) {
  for (std::int64_t d = 0; d < length; ++d) sum[d] += factor * row[d];
}

void store_rounded(const std::vector<double>& sums, const View<float>& rows) {  // rows is [length, width]
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    for (std::int64_t d = 0; d < rows.size(1); ++d) {
      rows(row, d) = static_cast<float>(sums[static_cast<std::size_t>(row * rows.size(1) + d)]);
    }
  }
}

}  // namespace

void sdpa_backward_reference(const SdpaBackward::Arguments& a, Context&) {
  const ScoreTruth score(a);
  const std::int64_t width = a.dimensions();
  const std::int64_t value_width = a.value_dimensions();
  std::vector<double> dsinks(static_cast<std::size_t>(a.heads()), 0.0);
  for (std::int64_t b = 0; b < a.batches(); ++b) {
    for (std::int64_t g = 0; g < a.key_heads(); ++g) {
      std::vector<double> dk(static_cast<std::size_t>(a.keys() * width), 0.0);
      std::vector<double> dv(static_cast<std::size_t>(a.keys() * value_width), 0.0);
      for (std::int64_t h = g * a.head_group(); h < (g + 1) * a.head_group(); ++h) {
        std::vector<double> dq(static_cast<std::size_t>(a.queries() * width), 0.0);
        for (std::int64_t i = 0; i < a.queries(); ++i) {
          const double log_sum_exp = a.log_sum_exp(b, h, i);
          if (log_sum_exp == -std::numeric_limits<double>::infinity()) continue;
          const float* dy = &a.dy(b, h, i, 0);
          const double delta = dot_in_double(dy, &a.y(b, h, i, 0), value_width);
          const KeyRange range = a.keys_of(i);
          for (std::int64_t j = range.begin; j < range.end; ++j) {
            const Score s = score(b, h, i, j);
            const double weight = std::exp(s.value - log_sum_exp);
            const double dw = dot_in_double(dy, &a.v(b, g, j, 0), value_width);
            const double draw = a.scale * weight * (dw - delta) * s.slope;
            add_scaled(weight, dy, &dv[static_cast<std::size_t>(j * value_width)], value_width);
            add_scaled(draw, &a.k(b, g, j, 0), &dq[static_cast<std::size_t>(i * width)], width);
            add_scaled(draw, &a.q(b, h, i, 0), &dk[static_cast<std::size_t>(j * width)], width);
          }
          if (is_present(a.dsinks)) {
            dsinks[static_cast<std::size_t>(h)] -= std::exp(a.sinks(h) - log_sum_exp) * delta;
          }
        }
        store_rounded(dq, a.dq[b][h]);
      }
      store_rounded(dk, a.dk[b][g]);
      store_rounded(dv, a.dv[b][g]);
    }
  }
  if (!is_present(a.dsinks)) return;
  for (std::int64_t h = 0; h < a.heads(); ++h) a.dsinks(h) = static_cast<float>(dsinks[static_cast<std::size_t>(h)]);
}

}  // namespace ingot
