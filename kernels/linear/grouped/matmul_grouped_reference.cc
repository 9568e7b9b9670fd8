// Scalar truth: each group is a plain product.
#include "kernels/linear/grouped/groups.h"

namespace ingot {

void matmul_grouped_reference(const MatmulGrouped::Arguments& arguments, Context& context) {
  for (std::int64_t group = 0; group < arguments.weights.size(0); ++group) {
    matmul_reference(group_of(arguments, group), context);
  }
}

void matmul_grouped_backward_input_reference(const MatmulGroupedBackwardInput::Arguments& arguments, Context& context) {
  for (std::int64_t group = 0; group < arguments.weights.size(0); ++group) {
    matmul_backward_input_reference(group_of(arguments, group), context);
  }
}

void matmul_grouped_backward_weight_reference(const MatmulGroupedBackwardWeight::Arguments& arguments,
                                              Context& context) {
  for (std::int64_t group = 0; group < arguments.dweights.size(0); ++group) {
    matmul_backward_weight_reference(group_of(arguments, group), context);
  }
}

}  // namespace ingot
