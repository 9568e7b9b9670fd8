// ONNX normalisations. Those over trailing axes become one over the last axis; those of whole batches become rows of
// what shares its statistics, and a scale and a shift a channel behind them.
#include <algorithm>
#include <cmath>

#include "kernels/activation/rectifier_curves.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/reduce.h"
#include "kernels/elementwise/unary.h"
#include "kernels/norm/group_norm.h"
#include "kernels/norm/l2_norm.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/rms_norm.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

// What lies from an axis on becomes one row.
struct TrailingRows {
  HostTensor x;            // [rows, width]
  Sizes normalised_shape;  // what a row was

  TrailingRows(const OnnxCase& onnx, const HostTensor& tensor) {
    const int axis = std::clamp(resolved_axis(onnx.integer("axis", -1), tensor.rank()), 0, tensor.rank());
    normalised_shape.assign(tensor.shape.begin() + axis, tensor.shape.end());
    const std::int64_t width = count_of(normalised_shape);
    x = reshaped(tensor, {width == 0 ? 0 : tensor.count() / width, width});
  }
  // A scale or shift repeated to the length of a row; absent where the case left it out.
  Floats parameter(Trial& trial, const HostTensor* tensor) const {
    if (tensor == nullptr) return {};
    const Result<HostTensor> repeated = broadcast(*tensor, normalised_shape);
    if (!repeated.ok()) {
      trial.fail(std::string(repeated.error().text()));
      return {};
    }
    return Floats(reshaped(repeated.value(), {repeated.value().count()}));
  }
};

void rms_normalisation(const OnnxCase& onnx, Trial& trial) {
  const TrailingRows rows(onnx, onnx.required(0));
  Floats x(rows.x);
  Floats gamma = rows.parameter(trial, &onnx.required(1));
  Floats y(rows.x.shape);
  RmsNorm::Arguments arguments;
  arguments.x = x.view();
  arguments.gamma = gamma.view();
  arguments.epsilon = static_cast<float>(onnx.number("epsilon", 1e-5));
  arguments.y = y.view();
  trial.run<RmsNorm>(arguments);
  trial.expect(0, y.values());
}

struct Normalised {
  Floats y, mean, rstd;
};

// Rows to mean 0 and variance 1.
Normalised normalise_rows(Trial& trial, const HostTensor& rows, double epsilon, Floats gamma = {}, Floats beta = {}) {
  Normalised result{Floats(rows.shape), Floats(Sizes{rows.size(0)}), Floats(Sizes{rows.size(0)})};
  Floats x(rows);
  LayerNorm::Arguments arguments;
  arguments.x = x.view();
  arguments.gamma = gamma.view();
  arguments.beta = beta.view();
  arguments.epsilon = static_cast<float>(epsilon);
  arguments.y = result.y.view();
  arguments.mean = result.mean.view();
  arguments.rstd = result.rstd.view();
  trial.run<LayerNorm>(arguments);
  return result;
}

void layer_normalisation(const OnnxCase& onnx, Trial& trial) {
  const TrailingRows rows(onnx, onnx.required(0));
  Floats gamma = rows.parameter(trial, &onnx.required(1));
  Floats beta = rows.parameter(trial, onnx.input(2));
  const Normalised found = normalise_rows(trial, rows.x, onnx.number("epsilon", 1e-5), gamma, beta);
  trial.expect(0, found.y.values());
  trial.expect(1, found.mean.values());
  trial.expect(2, found.rstd.values());
}

// x [N, C, ...] times a number a channel, plus another.
HostTensor scaled_channels(Trial& trial, const HostTensor& x, const HostTensor& scale, const HostTensor& shift) {
  auto repeated = [&](const HostTensor& channels) {
    HostTensor values{"f32", x.shape, {}};
    const std::int64_t behind = x.count() / (x.size(0) * x.size(1));
    for (std::int64_t index = 0; index < x.count(); ++index) {
      values.values.push_back(channels.values.at(static_cast<std::size_t>(index / behind % x.size(1))));
    }
    return values;
  };
  Floats y(x);
  Floats factors(repeated(scale));
  Floats terms(repeated(shift));
  trial.run<Multiply>({.a = y.view(), .b = factors.view(), .y = y.view()});
  trial.run<Add>({.a = y.view(), .b = terms.view(), .y = y.view()});
  return y.host();
}

// Version 18 of ONNX gives a number a group; it counts for every channel of the group.
HostTensor per_channel(const HostTensor& given, std::int64_t channels) {
  HostTensor result{given.dtype, {channels}, {}};
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    result.values.push_back(given.values.at(static_cast<std::size_t>(channel * given.count() / channels)));
  }
  return result;
}

void normalise_groups(const OnnxCase& onnx, Trial& trial, std::int64_t groups) {
  Floats x(onnx.required(0));
  Floats gamma(per_channel(onnx.required(1), onnx.required(0).size(1)));
  Floats beta(per_channel(onnx.required(2), onnx.required(0).size(1)));
  Floats y(onnx.required(0).shape);
  GroupNorm::Arguments arguments;
  arguments.x = x.view();
  arguments.gamma = gamma.view();
  arguments.beta = beta.view();
  arguments.groups = groups;
  arguments.epsilon = static_cast<float>(onnx.number("epsilon", 1e-5));
  arguments.y = y.view();
  trial.run<GroupNorm>(arguments);
  trial.expect(0, y.values());
}

void group_normalisation(const OnnxCase& onnx, Trial& trial) {
  normalise_groups(onnx, trial, onnx.integer("num_groups", 1));
}

void instance_normalisation(const OnnxCase& onnx, Trial& trial) {
  normalise_groups(onnx, trial, onnx.required(0).size(1));
}

// Statistics of the batch: rows are channels. The running averages are the caller's arithmetic.
void batch_normalisation_in_training(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  std::vector<int> channels_first = {1, 0};
  for (int axis = 2; axis < x.rank(); ++axis) channels_first.push_back(axis);
  const HostTensor moved = permuted(x, channels_first);
  const double epsilon = onnx.number("epsilon", 1e-5);
  const Normalised found = normalise_rows(trial, reshaped(moved, {x.size(1), x.count() / x.size(1)}), epsilon);
  const HostTensor y = permuted(reshaped(found.y.host(), moved.shape), channels_first);
  trial.expect(0, scaled_channels(trial, y, onnx.required(1), onnx.required(2)).values);
  const double momentum = onnx.number("momentum", 0.9);
  std::vector<double> mean = found.mean.values();
  std::vector<double> variance = found.rstd.values();
  for (std::size_t channel = 0; channel < mean.size(); ++channel) {
    const double own = 1 / (variance[channel] * variance[channel]) - epsilon;
    mean[channel] = onnx.required(3).values.at(channel) * momentum + mean[channel] * (1 - momentum);
    variance[channel] = onnx.required(4).values.at(channel) * momentum + own * (1 - momentum);
  }
  trial.expect(1, mean);
  trial.expect(2, variance);
}

// Fixed statistics fold into a scale and a shift, which is all that is left of the node in a circuit.
void batch_normalisation(const OnnxCase& onnx, Trial& trial) {
  if (onnx.integer("training_mode", 0) != 0) return batch_normalisation_in_training(onnx, trial);
  HostTensor scale = onnx.required(1);
  HostTensor shift = onnx.required(2);
  for (std::size_t channel = 0; channel < scale.values.size(); ++channel) {
    scale.values[channel] /= std::sqrt(onnx.required(4).values.at(channel) + onnx.number("epsilon", 1e-5));
    shift.values.at(channel) -= onnx.required(3).values.at(channel) * scale.values[channel];
  }
  trial.expect(0, scaled_channels(trial, onnx.required(0), scale, shift).values);
}

void mean_variance_normalisation(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  const auto axes = onnx.attributes.value("axes", std::vector<std::int64_t>{0, 2, 3});
  std::vector<int> order;
  std::vector<int> normalised;
  for (std::int64_t axis : axes) normalised.push_back(resolved_axis(axis, x.rank()));
  std::int64_t width = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (std::find(normalised.begin(), normalised.end(), axis) == normalised.end()) order.push_back(axis);
  }
  for (int axis : normalised) {
    order.push_back(axis);
    width *= x.size(axis);
  }
  const HostTensor moved = permuted(x, order);
  // ONNX adds 1e-9 to the standard deviation.
  const Normalised found = normalise_rows(trial, reshaped(moved, {x.count() / width, width}), 1e-18);
  std::vector<int> back(order.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    back[static_cast<std::size_t>(order[axis])] = static_cast<int>(axis);
  }
  trial.expect(0, permuted(reshaped(found.y.host(), moved.shape), back).values);
}

// x / sum |x|, with |x| = relu(x) + relu(-x).
Floats divided_by_sum(Trial& trial, Floats& x) {
  const Sizes shape = x.host().shape;
  Floats opposite(shape);
  Floats positive(shape);
  Floats negative(shape);
  Floats sums(Sizes{shape[0]});
  auto relu = [&](Floats& from, Floats& to) {
    UnaryActivation<Relu>::Arguments arguments;
    arguments.x = from.view();
    arguments.y = to.view();
    trial.run<UnaryActivation<Relu>>(arguments);
  };
  trial.run<Scale>({.x = x.view(), .factor = -1, .y = opposite.view()});
  relu(x, positive);
  relu(opposite, negative);
  trial.run<Add>({.a = positive.view(), .b = negative.view(), .y = positive.view()});
  trial.run<ReduceSum>({.x = positive.view(), .y = sums.view()});
  Floats divisors(broadcast(reshaped(sums.host(), {shape[0], 1}), shape).value());
  Floats y(shape);
  trial.run<Divide>({.a = x.view(), .b = divisors.view(), .y = y.view()});
  return y;
}

void lp_normalisation(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  const int axis = resolved_axis(onnx.integer("axis", -1), x.rank());
  const HostTensor moved = axis_to_end(x, axis);
  const std::int64_t width = moved.shape.back();
  Floats rows(reshaped(moved, {width == 0 ? 0 : moved.count() / width, width}));
  Floats y(rows.host().shape);
  if (onnx.integer("p", 2) == 1) {
    y = divided_by_sum(trial, rows);
  } else {
    L2Norm::Arguments arguments;
    arguments.x = rows.view();
    arguments.epsilon = 1e-30f;  // keeps a row of zeros zero, and is nothing beside any other
    arguments.y = y.view();
    trial.run<L2Norm>(arguments);
  }
  trial.expect(0, axis_from_end(reshaped(y.host(), moved.shape), axis).values);
}

}  // namespace

std::span<const Adapter> norm_adapters() {
  static constexpr Adapter adapters[] = {
      {"BatchNormalization", batch_normalisation},
      {"GroupNormalization", group_normalisation},
      {"InstanceNormalization", instance_normalisation},
      {"LayerNormalization", layer_normalisation},
      {"LpNormalization", lp_normalisation},
      {"MeanVarianceNormalization", mean_variance_normalisation},
      {"RMSNormalization", rms_normalisation},
  };
  return adapters;
}

}  // namespace ingot::outside
