#include "kernels/activation/family.h"

#include "kernels/activation/gates.h"
#include "kernels/activation/gelu_curves.h"
#include "kernels/activation/rectifier_curves.h"

namespace ingot {

std::span<const Operation* const> activation_operations() {
  static const Operation* const operations[] = {
      &describe_operation<UnaryActivation<Relu>>(),
      &describe_operation<UnaryActivationBackward<Relu>>(),
      &describe_operation<UnaryActivation<LeakyRelu>>(),
      &describe_operation<UnaryActivationBackward<LeakyRelu>>(),
      &describe_operation<UnaryActivation<ThresholdedRelu>>(),
      &describe_operation<UnaryActivationBackward<ThresholdedRelu>>(),
      &describe_operation<UnaryActivation<HardSigmoid>>(),
      &describe_operation<UnaryActivationBackward<HardSigmoid>>(),
      &describe_operation<UnaryActivation<Softsign>>(),
      &describe_operation<UnaryActivationBackward<Softsign>>(),
      &describe_operation<UnaryActivation<Sigmoid>>(),
      &describe_operation<UnaryActivationBackward<Sigmoid>>(),
      &describe_operation<UnaryActivation<Tanh>>(),
      &describe_operation<UnaryActivationBackward<Tanh>>(),
      &describe_operation<UnaryActivation<Silu>>(),
      &describe_operation<UnaryActivationBackward<Silu>>(),
      &describe_operation<UnaryActivation<Softplus>>(),
      &describe_operation<UnaryActivationBackward<Softplus>>(),
      &describe_operation<UnaryActivation<Elu>>(),
      &describe_operation<UnaryActivationBackward<Elu>>(),
      &describe_operation<UnaryActivation<Selu>>(),
      &describe_operation<UnaryActivationBackward<Selu>>(),
      &describe_operation<UnaryActivation<Mish>>(),
      &describe_operation<UnaryActivationBackward<Mish>>(),
      &describe_operation<UnaryActivation<Gelu>>(),
      &describe_operation<UnaryActivationBackward<Gelu>>(),
      &describe_operation<UnaryActivation<GeluTanh>>(),
      &describe_operation<UnaryActivationBackward<GeluTanh>>(),
      &describe_operation<UnaryActivation<GeluQuick>>(),
      &describe_operation<UnaryActivationBackward<GeluQuick>>(),
      &describe_operation<GatedActivation<Swiglu>>(),
      &describe_operation<GatedActivationBackward<Swiglu>>(),
      &describe_operation<GatedActivation<Geglu>>(),
      &describe_operation<GatedActivationBackward<Geglu>>(),
      &describe_operation<GatedActivation<GegluTanh>>(),
      &describe_operation<GatedActivationBackward<GegluTanh>>(),
      &describe_operation<GatedActivation<Reglu>>(),
      &describe_operation<GatedActivationBackward<Reglu>>(),
  };
  return operations;
}

}  // namespace ingot
