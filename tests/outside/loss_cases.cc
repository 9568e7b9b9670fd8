// ONNX losses. Classes are axis 1 there and the last axis here; what lies behind them becomes rows.
#include <limits>

#include "kernels/attention/softmax/log_softmax.h"
#include "kernels/loss/cross_entropy.h"
#include "kernels/loss/negative_log_likelihood.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

struct LossInputs {
  HostTensor scores;  // [rows, classes]
  Buffer<std::int32_t> targets;
  Floats weights;
  std::int32_t ignore_index;
  Reduction reduction;
  Floats loss;

  explicit LossInputs(const OnnxCase& onnx)
      : scores(axis_to_end(onnx.required(0), 1)), targets(flat(onnx.required(1))), weights(onnx.input(2)) {
    const std::int64_t classes = scores.shape.back();
    const std::int64_t rows = classes == 0 ? 0 : scores.count() / classes;
    scores.shape = {rows, classes};
    // Without the attribute nothing is ignored: an index that no target has.
    ignore_index = static_cast<std::int32_t>(onnx.integer("ignore_index", std::numeric_limits<std::int32_t>::min()));
    const std::string name = onnx.text("reduction", "mean");
    reduction = name == "none" ? Reduction::none : name == "sum" ? Reduction::sum : Reduction::mean;
    loss = Floats(Sizes{reduction == Reduction::none ? rows : 1});
  }

  static HostTensor flat(const HostTensor& tensor) { return reshaped(tensor, {tensor.count()}); }
};

void negative_log_likelihood(const OnnxCase& onnx, Trial& trial) {
  LossInputs inputs(onnx);
  Floats scores(inputs.scores);
  trial.run<NegativeLogLikelihood>({.log_probabilities = scores.view(),
                                    .targets = inputs.targets.view(),
                                    .class_weights = inputs.weights.view(),
                                    .ignore_index = inputs.ignore_index,
                                    .reduction = inputs.reduction,
                                    .loss = inputs.loss.view()});
  trial.expect(0, inputs.loss.values());
}

void cross_entropy(const OnnxCase& onnx, Trial& trial) {
  LossInputs inputs(onnx);
  Floats scores(inputs.scores);
  CrossEntropy::Arguments arguments;
  arguments.logits = scores.view();
  arguments.targets = inputs.targets.view();
  arguments.class_weights = inputs.weights.view();
  arguments.ignore_index = inputs.ignore_index;
  arguments.reduction = inputs.reduction;
  arguments.loss = inputs.loss.view();
  trial.run<CrossEntropy>(arguments);
  trial.expect(0, inputs.loss.values());

  if (onnx.output(1) == nullptr) return;
  Floats log_probabilities(inputs.scores.shape);
  trial.run<LogSoftmax>({.x = scores.view(), .y = log_probabilities.view()});
  const Sizes permuted_shape = axis_to_end(onnx.required(0), 1).shape;
  trial.expect(1, axis_from_end(reshaped(log_probabilities.host(), permuted_shape), 1).values);
}

}  // namespace

std::span<const Adapter> loss_adapters() {
  static constexpr Adapter adapters[] = {
      {"NegativeLogLikelihoodLoss", negative_log_likelihood},
      {"SoftmaxCrossEntropyLoss", cross_entropy},
  };
  return adapters;
}

}  // namespace ingot::outside
