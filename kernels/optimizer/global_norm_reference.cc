// Scalar truth, in double.
#include <cmath>

#include "kernels/optimizer/global_norm.h"
#include "tensor/rows.h"

namespace ingot {

void global_norm_reference(const GlobalNorm::Arguments& a, Context&) {
  const Rows x(a.x);
  double sum = 0;
  for (std::int64_t row = 0; row < x.count(); ++row) {
    for (std::int64_t i = 0; i < x.length(); ++i) sum += double{x[row][i]} * x[row][i];
  }
  a.norm(0) = static_cast<float>(std::sqrt(sum));
}

}  // namespace ingot
