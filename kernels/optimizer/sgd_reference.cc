// Scalar truth, in double.
#include "kernels/optimizer/sgd.h"
#include "tensor/rows.h"

namespace ingot {

void sgd_reference(const Sgd::Arguments& a, Context&) {
  const Rows parameters(a.parameters);
  const Rows gradient(a.gradient);
  for (std::int64_t row = 0; row < parameters.count(); ++row) {
    for (std::int64_t i = 0; i < parameters.length(); ++i) {
      float& parameter = parameters[row][i];
      const double g = gradient[row][i] + a.weight_decay * parameter;
      double step = g;
      if (is_present(a.buffer)) {
        float& stored = Rows(a.buffer)[row][i];
        const double buffer = a.momentum * stored + (1 - a.dampening) * g;
        stored = static_cast<float>(buffer);
        step = a.nesterov ? g + a.momentum * buffer : buffer;
      }
      parameter = static_cast<float>(parameter - a.learning_rate * step);
    }
  }
}

}  // namespace ingot
