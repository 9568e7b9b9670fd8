// Scalar truth, in double.
#include <cmath>

#include "kernels/optimizer/adagrad.h"
#include "tensor/rows.h"

namespace ingot {

void adagrad_reference(const Adagrad::Arguments& a, Context&) {
  const Rows gradient(a.gradient);
  const Rows parameters(a.parameters);
  const Rows sums(a.sum_of_squares);
  for (std::int64_t row = 0; row < parameters.count(); ++row) {
    for (std::int64_t i = 0; i < parameters.length(); ++i) {
      const double parameter = parameters[row][i];
      const double g = gradient[row][i] + a.weight_decay * parameter;
      const double sum = sums[row][i] + g * g;
      sums[row][i] = static_cast<float>(sum);
      parameters[row][i] = static_cast<float>(parameter - a.learning_rate * g / (std::sqrt(sum) + a.epsilon));
    }
  }
}

}  // namespace ingot
