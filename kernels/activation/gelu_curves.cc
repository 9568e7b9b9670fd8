#include "kernels/activation/gelu_curves.h"

#include "kernels/activation/unary_activation_cases.h"
#include "kernels/activation/unary_activation_rows.h"

namespace ingot {

template const Operation& describe_operation<UnaryActivation<Gelu>>();
template const Operation& describe_operation<UnaryActivationBackward<Gelu>>();
template const Operation& describe_operation<UnaryActivation<GeluTanh>>();
template const Operation& describe_operation<UnaryActivationBackward<GeluTanh>>();
template const Operation& describe_operation<UnaryActivation<GeluQuick>>();
template const Operation& describe_operation<UnaryActivationBackward<GeluQuick>>();

}  // namespace ingot
