// ONNX's training operators. Each updates any number of tensors: inputs are R, T, then all X, all G, all V, (all H);
// outputs all new X, all new V, (all new H).
#include <cmath>

#include "kernels/elementwise/unary.h"
#include "kernels/optimizer/adagrad.h"
#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/sgd.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

// A scalar counts as a row of one.
Floats row_of(const HostTensor& tensor) { return Floats(tensor.rank() == 0 ? reshaped(tensor, {1}) : tensor); }

// Calls update(tensors, new_tensors) for each group: X, G and the states of one parameter tensor.
template <std::size_t Count, class Update>
void for_each_parameter(const OnnxCase& onnx, Trial& trial, Update update) {
  const std::size_t groups = (onnx.input_names.size() - 2) / Count;
  for (std::size_t group = 0; group < groups; ++group) {
    std::array<Floats, Count> tensors;
    for (std::size_t which = 0; which < Count; ++which)
      tensors[which] = row_of(onnx.required(2 + which * groups + group));
    update(tensors);
    // X, then the states; the gradient is not an output.
    trial.expect(group, tensors[0].values());
    for (std::size_t which = 2; which < Count; ++which) {
      trial.expect((which - 1) * groups + group, tensors[which].values());
    }
  }
}

double scalar(const OnnxCase& onnx, std::size_t input) { return onnx.required(input).values.at(0); }

void adagrad(const OnnxCase& onnx, Trial& trial) {
  const double rate = scalar(onnx, 0) / (1 + scalar(onnx, 1) * onnx.number("decay_factor", 0));
  for_each_parameter<3>(onnx, trial, [&](auto& tensors) {
    trial.run<Adagrad>({.gradient = tensors[1].view(),
                        .learning_rate = rate,
                        .epsilon = onnx.number("epsilon", 0),
                        .weight_decay = onnx.number("norm_coefficient", 0),
                        .parameters = tensors[0].view(),
                        .sum_of_squares = tensors[2].view()});
  });
}

// ONNX adds epsilon to sqrt(v) before the bias correction c2 = sqrt(1 - beta2^T), Ingot after it: epsilon / c2 there is
// what epsilon is here. At T = 0 ONNX corrects nothing, so step 1's corrections are taken out of rate and epsilon.
void adam(const OnnxCase& onnx, Trial& trial) {
  const auto step = static_cast<std::int64_t>(scalar(onnx, 1));
  AdamArguments arguments;
  arguments.beta1 = onnx.number("alpha", 0.9);
  arguments.beta2 = onnx.number("beta", 0.999);
  arguments.step = std::max<std::int64_t>(step, 1);
  const double c2 = std::sqrt(1 - std::pow(arguments.beta2, static_cast<double>(arguments.step)));
  arguments.epsilon = onnx.number("epsilon", 0) / c2;
  arguments.learning_rate = scalar(onnx, 0) * (step > 0 ? 1 : (1 - arguments.beta1) / c2);
  arguments.weight_decay = onnx.number("norm_coefficient", 0);
  const auto kept = static_cast<float>(1 - onnx.number("norm_coefficient_post", 0));
  for_each_parameter<4>(onnx, trial, [&](auto& tensors) {
    arguments.gradient = tensors[1].view();
    arguments.parameters = tensors[0].view();
    arguments.first_moment = tensors[2].view();
    arguments.second_moment = tensors[3].view();
    trial.run<Adam>(arguments);
    if (kept != 1) trial.run<Scale>({.x = tensors[0].view(), .factor = kept, .y = tensors[0].view()});
  });
}

void momentum(const OnnxCase& onnx, Trial& trial) {
  const bool is_first = scalar(onnx, 1) == 0;
  for_each_parameter<3>(onnx, trial, [&](auto& tensors) {
    trial.run<Sgd>({.gradient = tensors[1].view(),
                    .learning_rate = scalar(onnx, 0),
                    .momentum = onnx.number("alpha", 0),
                    .dampening = is_first ? 0 : 1 - onnx.number("beta", 1),
                    .weight_decay = onnx.number("norm_coefficient", 0),
                    .nesterov = onnx.text("mode", "standard") == "nesterov",
                    .parameters = tensors[0].view(),
                    .buffer = tensors[2].view()});
  });
}

}  // namespace

std::span<const Adapter> optimizer_adapters() {
  static constexpr Adapter adapters[] = {
      {"Adagrad", adagrad},
      {"Adam", adam},
      {"Momentum", momentum},
  };
  return adapters;
}

}  // namespace ingot::outside
