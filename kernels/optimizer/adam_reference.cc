// Scalar truth, in double, in the order of the papers: bias corrections are applied where they are written.
#include <cmath>

#include "kernels/optimizer/adam.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

enum class DecayPlace { in_gradient, in_parameter };

void adam_scalar(const AdamArguments& a, DecayPlace place) {
  const Rows gradient(a.gradient);
  const Rows parameters(a.parameters);
  const Rows first_moment(a.first_moment);
  const Rows second_moment(a.second_moment);
  const double correction1 = 1 - std::pow(a.beta1, static_cast<double>(a.step));
  const double correction2 = 1 - std::pow(a.beta2, static_cast<double>(a.step));
  for (std::int64_t row = 0; row < parameters.count(); ++row) {
    for (std::int64_t i = 0; i < parameters.length(); ++i) {
      double parameter = parameters[row][i];
      double g = gradient[row][i];
      if (place == DecayPlace::in_gradient) {
        g += a.weight_decay * parameter;
      } else {
        parameter *= 1 - a.learning_rate * a.weight_decay;
      }
      const double m = a.beta1 * first_moment[row][i] + (1 - a.beta1) * g;
      const double v = a.beta2 * second_moment[row][i] + (1 - a.beta2) * g * g;
      first_moment[row][i] = static_cast<float>(m);
      second_moment[row][i] = static_cast<float>(v);
      const double denominator = std::sqrt(v / correction2) + a.epsilon;
      parameters[row][i] = static_cast<float>(parameter - a.learning_rate * (m / correction1) / denominator);
    }
  }
}

}  // namespace

void adam_reference(const AdamArguments& a, Context&) { adam_scalar(a, DecayPlace::in_gradient); }
void adamw_reference(const AdamArguments& a, Context&) { adam_scalar(a, DecayPlace::in_parameter); }

}  // namespace ingot
