// Scalar truth; the row's arithmetic is row_softmax.h's.
#include <vector>

#include "kernels/attention/softmax/row_softmax.h"
#include "kernels/attention/softmax/softmax.h"
#include "tensor/rows.h"

namespace ingot {

void softmax_reference(const Softmax::Arguments& a, Context&) {
  if (a.x.empty()) {
    // No columns: the sum holds the sink alone.
    const PerRow sinks(a.sinks, shape_of_rows(a.x.shape()));
    const std::int64_t rows = is_present(a.log_sum_exp) ? a.log_sum_exp.count() : 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      a.log_sum_exp.data()[row] = is_present(a.sinks) ? sinks[row] : -std::numeric_limits<float>::infinity();
    }
    return;
  }
  const Rows x(a.x);
  const Rows y(a.y);
  const View<const float> repeated = is_present(a.mask) ? a.mask.broadcast_to(a.x.shape()).value() : a.x;
  const Rows mask(repeated);
  const PerRow sinks(a.sinks, shape_of_rows(a.x.shape()));
  const std::int64_t queries = a.x.rank() >= 2 ? a.x.shape().last(1) : 1;
  std::vector<double> scores(static_cast<std::size_t>(x.length()));
  for (std::int64_t row = 0; row < x.count(); ++row) {
    const std::int64_t visible = visible_keys(a.mask_kind, 0, row % queries + a.query_offset, x.length()).end;
    for (std::int64_t j = 0; j < visible; ++j) {
      scores[static_cast<std::size_t>(j)] =
          double{a.scale} * x[row][j] + (is_present(a.mask) ? double{mask[row][j * mask.stride()]} : 0.0);
    }
    const std::span seen(scores.data(), static_cast<std::size_t>(visible));
    const RowSum sum = is_present(a.sinks) ? exponentiate(seen, sinks[row]) : exponentiate(seen);
    for (std::int64_t j = 0; j < x.length(); ++j) {
      y[row][j] = j < visible ? static_cast<float>(scores[static_cast<std::size_t>(j)] * sum.inverse()) : 0.0f;
    }
    if (is_present(a.log_sum_exp)) a.log_sum_exp.data()[row] = static_cast<float>(sum.log_sum_exp());
  }
}

// Sinks repeat over rows, so their gradients are sums over rows: gathered in double by the sink's own address.
template <class Delta>
void softmax_sink_gradients(const SoftmaxBackward::Arguments& a, const Delta* deltas) {
  const Shape row_shape = shape_of_rows(a.y.shape());
  const PerRow sinks(a.sinks, row_shape);
  std::vector<double> sums(static_cast<std::size_t>(a.dsinks.count()), 0.0);
  const PerRow gathered(View<double>(sums.data(), a.dsinks.shape()), row_shape);
  for (std::int64_t row = 0; row < a.log_sum_exp.count(); ++row) {
    const double log_sum_exp = a.log_sum_exp.data()[row];
    if (log_sum_exp == -std::numeric_limits<double>::infinity()) continue;  // the sink itself is -infinity
    gathered[row] -= std::exp(sinks[row] - log_sum_exp) * double{deltas[row]};
  }
  const PerRow out(a.dsinks, a.dsinks.shape());
  for (std::size_t index = 0; index < sums.size(); ++index) {
    out[static_cast<std::int64_t>(index)] = static_cast<float>(sums[index]);
  }
}
template void softmax_sink_gradients(const SoftmaxBackward::Arguments&, const float*);

void softmax_backward_reference(const SoftmaxBackward::Arguments& a, Context&) {
  const Rows y(a.y);
  const Rows dy(a.dy);
  const Rows dx(a.dx);
  std::vector<double> deltas;
  for (std::int64_t row = 0; row < y.count(); ++row) {
    double delta = 0;
    for (std::int64_t j = 0; j < y.length(); ++j) delta += double{dy[row][j]} * y[row][j];
    for (std::int64_t j = 0; j < y.length(); ++j) {
      dx[row][j] = static_cast<float>(double{a.scale} * y[row][j] * (dy[row][j] - delta));
    }
    deltas.push_back(delta);
  }
  if (is_present(a.dsinks)) softmax_sink_gradients(a, deltas.data());
}

}  // namespace ingot
