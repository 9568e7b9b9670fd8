// ONNX activations. Where a node has no operation of its own, it is composed of those Ingot has.
#include "kernels/activation/exponential_curves.h"
#include "kernels/activation/gates.h"
#include "kernels/activation/gelu_curves.h"
#include "kernels/activation/rectifier_curves.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

// Nodes over other types than floats (integers have a Relu too) are not Ingot's.
bool has_floats(const OnnxCase& onnx, Trial& trial) {
  for (std::size_t index = 0; index < onnx.input_names.size(); ++index) {
    if (onnx.input(index) != nullptr && !onnx.input(index)->is_float()) {
      trial.not_applicable("activations are of floats, not of " + onnx.input(index)->dtype);
      return false;
    }
  }
  return true;
}

template <class Curve>
Floats apply(Trial& trial, Floats& x, const typename Curve::Parameters& parameters = {}) {
  Floats y(x.host().shape);
  typename UnaryActivation<Curve>::Arguments arguments;
  static_cast<typename Curve::Parameters&>(arguments) = parameters;
  arguments.x = x.view();
  arguments.y = y.view();
  trial.run<UnaryActivation<Curve>>(arguments);
  return y;
}

Floats scale(Trial& trial, Floats& x, double factor) {
  Floats y(x.host().shape);
  trial.run<Scale>({.x = x.view(), .factor = static_cast<float>(factor), .y = y.view()});
  return y;
}

template <class Op>
Floats combine(Trial& trial, Floats& a, Floats& b) {
  Floats y(a.host().shape);
  trial.run<Op>({.a = a.view(), .b = b.view(), .y = y.view()});
  return y;
}

template <class Curve>
void plain(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  trial.expect(0, apply<Curve>(trial, x).values());
}

void elu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  trial.expect(0, apply<Elu>(trial, x, {.alpha = static_cast<float>(onnx.number("alpha", 1))}).values());
}

// max(0, x) + min(0, alpha (e^(x / alpha) - 1)) = alpha elu(x / alpha)
void celu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  const double alpha = onnx.number("alpha", 1);
  Floats inner = scale(trial, x, 1 / alpha);
  Floats curve = apply<Elu>(trial, inner);
  trial.expect(0, scale(trial, curve, alpha).values());
}

void selu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  Selu::Parameters parameters;
  parameters.alpha = static_cast<float>(onnx.number("alpha", parameters.alpha));
  parameters.gamma = static_cast<float>(onnx.number("gamma", parameters.gamma));
  trial.expect(0, apply<Selu>(trial, x, parameters).values());
}

void gelu(const OnnxCase& onnx, Trial& trial) {
  if (onnx.text("approximate", "none") == "tanh") return plain<GeluTanh>(onnx, trial);
  plain<Gelu>(onnx, trial);
}

void leaky_relu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  trial.expect(0, apply<LeakyRelu>(trial, x, {.slope = static_cast<float>(onnx.number("alpha", 0.01))}).values());
}

void thresholded_relu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  trial.expect(0, apply<ThresholdedRelu>(trial, x, {.alpha = static_cast<float>(onnx.number("alpha", 1))}).values());
}

void hard_sigmoid(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  const HardSigmoid::Parameters parameters = {.alpha = static_cast<float>(onnx.number("alpha", 0.2)),
                                              .beta = static_cast<float>(onnx.number("beta", 0.5))};
  trial.expect(0, apply<HardSigmoid>(trial, x, parameters).values());
}

void hard_swish(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  Floats gate = apply<HardSigmoid>(trial, x, {.alpha = 1.0f / 6, .beta = 0.5f});
  trial.expect(0, combine<Multiply>(trial, x, gate).values());
}

// x sigmoid(alpha x): silu where alpha is 1.
Floats swish_of(Trial& trial, Floats& x, double alpha) {
  if (alpha == 1) return apply<Silu>(trial, x);
  Floats inner = scale(trial, x, alpha);
  Floats gate = apply<Sigmoid>(trial, inner);
  return combine<Multiply>(trial, x, gate);
}

void swish(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  trial.expect(0, swish_of(trial, x, onnx.number("alpha", 1)).values());
}

void swiglu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats gate(onnx.required(0));
  Floats up(onnx.required(1));
  const double alpha = onnx.number("alpha", 1);
  Floats y(onnx.required(0).shape);
  if (alpha == 1) {
    trial.run<GatedActivation<Swiglu>>({.gate = gate.view(), .up = up.view(), .y = y.view()});
  } else {
    Floats curve = swish_of(trial, gate, alpha);
    y = combine<Multiply>(trial, curve, up);
  }
  trial.expect(0, y.values());
}

// relu(x) - slope relu(-x)
void prelu(const OnnxCase& onnx, Trial& trial) {
  if (!has_floats(onnx, trial)) return;
  Floats x(onnx.required(0));
  const Result<HostTensor> repeated = broadcast(onnx.required(1), onnx.required(0).shape);
  if (!repeated.ok()) return trial.fail(std::string(repeated.error().text()));
  Floats slope(repeated.value());
  Floats opposite = scale(trial, x, -1);
  Floats positive = apply<Relu>(trial, x);
  Floats negative = apply<Relu>(trial, opposite);
  Floats slanted = combine<Multiply>(trial, negative, slope);
  trial.expect(0, combine<Subtract>(trial, positive, slanted).values());
}

}  // namespace

std::span<const Adapter> activation_adapters() {
  static constexpr Adapter adapters[] = {
      {"Celu", celu},
      {"Elu", elu},
      {"Gelu", gelu},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", hard_swish},
      {"LeakyRelu", leaky_relu},
      {"Mish", plain<Mish>},
      {"PRelu", prelu},
      {"Relu", plain<Relu>},
      {"Selu", selu},
      {"Sigmoid", plain<Sigmoid>},
      {"Softplus", plain<Softplus>},
      {"Softsign", plain<Softsign>},
      {"SwiGLU", swiglu},
      {"Swish", swish},
      {"Tanh", plain<Tanh>},
      {"ThresholdedRelu", thresholded_relu},
  };
  return adapters;
}

}  // namespace ingot::outside
