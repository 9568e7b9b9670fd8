#include "kernels/activation/exponential_curves.h"

#include "kernels/activation/unary_activation_cases.h"
#include "kernels/activation/unary_activation_rows.h"

namespace ingot {

template const Operation& describe_operation<UnaryActivation<Sigmoid>>();
template const Operation& describe_operation<UnaryActivationBackward<Sigmoid>>();
template const Operation& describe_operation<UnaryActivation<Tanh>>();
template const Operation& describe_operation<UnaryActivationBackward<Tanh>>();
template const Operation& describe_operation<UnaryActivation<Silu>>();
template const Operation& describe_operation<UnaryActivationBackward<Silu>>();
template const Operation& describe_operation<UnaryActivation<Softplus>>();
template const Operation& describe_operation<UnaryActivationBackward<Softplus>>();
template const Operation& describe_operation<UnaryActivation<Elu>>();
template const Operation& describe_operation<UnaryActivationBackward<Elu>>();
template const Operation& describe_operation<UnaryActivation<Selu>>();
template const Operation& describe_operation<UnaryActivationBackward<Selu>>();
template const Operation& describe_operation<UnaryActivation<Mish>>();
template const Operation& describe_operation<UnaryActivationBackward<Mish>>();

}  // namespace ingot
