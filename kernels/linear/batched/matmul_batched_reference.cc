// Scalar truth of the batched product and its derivatives, in double.
#include "kernels/linear/batched/matmul_batched.h"

namespace ingot {
namespace {

// y[i,m,n] = sum_j sum_k left[j,m,k] right[j,k,n]: j runs over the whole batch where y's batch was shared, else j = i.
void multiply_batches(const View<const float>& left, const View<const float>& right, const View<float>& y,
                      std::int64_t batches) {
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    const std::int64_t first = y.size(0) == 1 ? 0 : i;
    const std::int64_t last = y.size(0) == 1 ? batches : i + 1;
    for (std::int64_t m = 0; m < y.size(1); ++m) {
      for (std::int64_t n = 0; n < y.size(2); ++n) {
        double sum = 0;
        for (std::int64_t j = first; j < last; ++j) {
          for (std::int64_t k = 0; k < left.size(2); ++k) sum += double{left(j, m, k)} * double{right(j, k, n)};
        }
        y(i, m, n) = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace

void matmul_batched_reference(const MatmulBatched::Arguments& arguments, Context&) {
  multiply_batches(with_transpose(arguments.a, arguments.transpose_a),
                   with_transpose(arguments.b, arguments.transpose_b), arguments.y, arguments.y.size(0));
}

void matmul_batched_backward_reference(const MatmulBatchedBackward::Arguments& arguments, Context&) {
  const View<const float> dy = with_transpose(arguments.dy, false);
  const std::int64_t batches = arguments.dy.size(0);
  if (is_present(arguments.da)) {  // d op(a) = dy op(b)^T
    multiply_batches(dy, with_transpose(arguments.b, !arguments.transpose_b),
                     with_transpose(arguments.da, arguments.transpose_a), batches);
  }
  if (is_present(arguments.db)) {  // d op(b) = op(a)^T dy
    multiply_batches(with_transpose(arguments.a, !arguments.transpose_a), dy,
                     with_transpose(arguments.db, arguments.transpose_b), batches);
  }
}

}  // namespace ingot
