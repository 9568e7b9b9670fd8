#include "kernels/quantization/vec_dot_terms.h"

namespace ingot {

void vec_dot_reference(const VecDot::Arguments& arguments, Context&) {
  for (std::int64_t row = 0; row < arguments.y.size(0); ++row) {
    double sum = 0;
    for_each_term(arguments, row, [&](double product, double minimum) { sum += product - minimum; });
    arguments.y.data()[row] = static_cast<float>(sum);
  }
}

}  // namespace ingot
