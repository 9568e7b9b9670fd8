// Scalar truth, in double.
#include "kernels/optimizer/lion.h"
#include "tensor/rows.h"

namespace ingot {

void lion_reference(const Lion::Arguments& a, Context&) {
  const Rows gradient(a.gradient);
  const Rows parameters(a.parameters);
  const Rows momentum(a.momentum);
  const double momentum_share = static_cast<float>(a.beta1);
  const double gradient_share = static_cast<float>(1 - a.beta1);
  for (std::int64_t row = 0; row < parameters.count(); ++row) {
    for (std::int64_t i = 0; i < parameters.length(); ++i) {
      const double g = gradient[row][i];
      const double m = momentum[row][i];
      const double parameter = parameters[row][i];
      const double mixed = momentum_share * m + gradient_share * g;  // two floats' product is exact in a double
      const double direction = mixed > 0 ? 1 : mixed < 0 ? -1 : mixed;
      parameters[row][i] =
          static_cast<float>((1 - a.learning_rate * a.weight_decay) * parameter - a.learning_rate * direction);
      momentum[row][i] = static_cast<float>(a.beta2 * m + (1 - a.beta2) * g);
    }
  }
}

}  // namespace ingot
