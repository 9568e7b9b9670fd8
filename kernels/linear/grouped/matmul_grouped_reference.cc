// Scalar truth: each expert is a plain product.
#include "kernels/linear/grouped/experts.h"

namespace ingot {

void matmul_grouped_reference(const MatmulGrouped::Arguments& arguments, Context& context) {
  for (std::int64_t expert = 0; expert < arguments.weights.size(0); ++expert) {
    matmul_reference(expert_of(arguments, expert), context);
  }
}

void matmul_grouped_backward_input_reference(const MatmulGroupedBackwardInput::Arguments& arguments, Context& context) {
  for (std::int64_t expert = 0; expert < arguments.weights.size(0); ++expert) {
    matmul_backward_input_reference(expert_of(arguments, expert), context);
  }
}

void matmul_grouped_backward_weight_reference(const MatmulGroupedBackwardWeight::Arguments& arguments,
                                              Context& context) {
  for (std::int64_t expert = 0; expert < arguments.dweights.size(0); ++expert) {
    matmul_backward_weight_reference(expert_of(arguments, expert), context);
  }
}

}  // namespace ingot
