#include "kernels/activation/rectifier_curves.h"

#include "kernels/activation/unary_activation_cases.h"
#include "kernels/activation/unary_activation_rows.h"

namespace ingot {

template const Operation& describe_operation<UnaryActivation<Relu>>();
template const Operation& describe_operation<UnaryActivationBackward<Relu>>();
template const Operation& describe_operation<UnaryActivation<LeakyRelu>>();
template const Operation& describe_operation<UnaryActivationBackward<LeakyRelu>>();
template const Operation& describe_operation<UnaryActivation<ThresholdedRelu>>();
template const Operation& describe_operation<UnaryActivationBackward<ThresholdedRelu>>();
template const Operation& describe_operation<UnaryActivation<HardSigmoid>>();
template const Operation& describe_operation<UnaryActivationBackward<HardSigmoid>>();
template const Operation& describe_operation<UnaryActivation<Softsign>>();
template const Operation& describe_operation<UnaryActivationBackward<Softsign>>();

}  // namespace ingot
