// Cross-entropy reads a row once: each thread keeps the greatest of its numbers and the sum of exponentials below it,
// rescaled whenever a greater one comes. Losses of rows meet in double, in an order that depends on their number alone.
#include "kernels/loss/class_loss_cuda.h"

#include "kernels/device/reduce.h"
#include "kernels/device/running_sum.h"

namespace ingot::device {
namespace {

INGOT_ON_DEVICE double weight_of_class(const DeviceTargets& targets, unsigned index) {
  return targets.class_weights == nullptr ? 1 : targets.class_weights[index];
}
INGOT_ON_DEVICE std::int32_t target_of(const DeviceTargets& targets, unsigned row) {
  return targets.targets[row * targets.stride];
}

INGOT_ON_DEVICE void store_loss(const ClassLossRows& parameters, unsigned row, double loss) {
  if (parameters.loss != nullptr) {
    parameters.loss[row] = static_cast<float>(loss);
  } else {
    parameters.row_losses[row] = loss;
  }
}

struct ShiftedSum {
  float greatest;  // of what is not NaN
  double
      log_sum;  // log of the sum of e^(x - greatest); NaN where a NaN or +infinity is among them, or all are -infinity
};

// Four groups are under way at once until fewer than that are left. IsAligned: the row begins at a multiple of 16
// bytes; that it is known leaves loads without branches.
template <class Team, bool IsAligned>
INGOT_ON_DEVICE ShiftedSum shifted_sum(const float* x, unsigned length) {
  constexpr unsigned groups = 4;
  constexpr unsigned step = group_floats * Team::threads;
  constexpr unsigned reach = (groups - 1) * step + group_floats;
  RunningSum running;
  unsigned at = group_floats * Team::rank();
  for (; length >= reach && at <= length - reach; at += groups * step) {
    float values[groups][group_floats];
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      load_group(values[group], x + at + group * step, 0, group_floats, IsAligned);
    }
    running.add(values);
  }
  INGOT_ROLLED
  for (; at < length; at += step) {
    float values[1][group_floats];
    load_group(values[0], x, at, length, IsAligned && length - at >= group_floats);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      if (at + i >= length) values[0][i] = -infinity;
    }
    running.add(values);
  }
  const float of_all = Team::maximum(running.greatest);
  const double total = Team::sum(double{running.sum} * weight_below(running.greatest, of_all));
  return {of_all, of_all == -infinity ? __builtin_nan("") : logarithm(total)};
}

// sum_c w[c] (greatest - x[c]): nothing cancels.
template <class Team>
INGOT_ON_DEVICE double weighted_distance(const ClassLossRows& parameters, const float* x, float greatest) {
  double distance = 0;
  for_own_elements<Team>(x, 0, parameters.classes, parameters.is_aligned, [&](float value, unsigned index) {
    distance += weight_of_class(parameters.targets, index) * (double{greatest} - value);
  });
  return Team::sum(distance);
}
template <class Team>
INGOT_ON_DEVICE double all_weights(const ClassLossRows& parameters) {
  if (parameters.targets.class_weights == nullptr) return parameters.classes;
  double weights = 0;
  for (unsigned index = Team::rank(); index < parameters.classes; index += Team::threads) {
    weights += parameters.targets.class_weights[index];
  }
  return Team::sum(weights);
}

template <class Team>
INGOT_ON_DEVICE void cross_entropy_row(const ClassLossRows& parameters) {
  const unsigned row = block_index();
  const float* const x = parameters.scores + row * parameters.stride;
  const ShiftedSum sum = parameters.is_aligned ? shifted_sum<Team, true>(x, parameters.classes)
                                               : shifted_sum<Team, false>(x, parameters.classes);
  const std::int32_t target = target_of(parameters.targets, row);
  const bool is_ignored = target == parameters.targets.ignore_index;
  const double smoothing = parameters.label_smoothing;
  double spread = 0;
  if (smoothing != 0 && !is_ignored) {  // the same for the whole block
    spread = weighted_distance<Team>(parameters, x, sum.greatest) + all_weights<Team>(parameters) * sum.log_sum;
  }
  if (Team::rank() != 0) return;
  if (parameters.log_sum_exp != nullptr) parameters.log_sum_exp[row] = static_cast<float>(sum.greatest + sum.log_sum);
  if (is_ignored) return store_loss(parameters, row, 0);
  // lse - x as (greatest - x) + log_sum: the difference of two large numbers is taken before anything is added.
  double loss = (1 - smoothing) * weight_of_class(parameters.targets, static_cast<unsigned>(target)) *
                ((double{sum.greatest} - x[target]) + sum.log_sum);
  if (smoothing != 0) loss += smoothing / static_cast<double>(parameters.classes) * spread;
  store_loss(parameters, row, loss);
}

}  // namespace

INGOT_DEVICE_FUNCTION(cross_entropy_rows, ClassLossRows, 128) { cross_entropy_row<Team<128>>(parameters); }
INGOT_DEVICE_FUNCTION(cross_entropy_long_rows, ClassLossRows, 256) { cross_entropy_row<Team<256>>(parameters); }
// Built for twice its threads: three blocks of them to a multiprocessor would take registers that it needs.
INGOT_DEVICE_FUNCTION(cross_entropy_longest_rows, ClassLossRows, 1024) { cross_entropy_row<Team<512>>(parameters); }

INGOT_DEVICE_FUNCTION(negative_log_likelihood_rows, ClassLossRows, 256) {
  const unsigned row = block_index() * thread_count() + thread_index();
  if (row >= parameters.rows) return;
  const std::int32_t target = target_of(parameters.targets, row);
  if (target == parameters.targets.ignore_index) return store_loss(parameters, row, 0);
  const double weight = weight_of_class(parameters.targets, static_cast<unsigned>(target));
  store_loss(parameters, row, -weight * parameters.scores[row * parameters.stride + target]);
}

INGOT_DEVICE_FUNCTION(class_loss_total, ClassLossTotal, 1024) {
  double loss = 0;
  double weights = 0;
  for (unsigned row = thread_index(); row < parameters.rows; row += thread_count()) {
    loss += parameters.row_losses[row];
    const std::int32_t target = target_of(parameters.targets, row);
    if (target != parameters.targets.ignore_index) {
      weights += weight_of_class(parameters.targets, static_cast<unsigned>(target));
    }
  }
  loss = block_sum(loss);
  weights = block_sum(weights);
  if (thread_index() != 0) return;
  const double divisor = parameters.is_mean && weights != 0 ? weights : 1;
  parameters.loss[0] = static_cast<float>(loss / divisor);
}

}  // namespace ingot::device
