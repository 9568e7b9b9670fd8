// Scalar truth, in double.
#include "kernels/optimizer/accumulate_gradient.h"
#include "tensor/rows.h"

namespace ingot {

void accumulate_gradient_reference(const AccumulateGradient::Arguments& a, Context&) {
  const Rows gradient(a.gradient);
  const Rows accumulator(a.accumulator);
  for (std::int64_t row = 0; row < accumulator.count(); ++row) {
    for (std::int64_t i = 0; i < accumulator.length(); ++i) {
      accumulator[row][i] = static_cast<float>(accumulator[row][i] + a.scale * gradient[row][i]);
    }
  }
}

}  // namespace ingot
