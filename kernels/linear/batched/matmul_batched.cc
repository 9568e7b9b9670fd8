#include "kernels/linear/batched/matmul_batched.h"

#include <algorithm>

#include "kernels/contract/describe.h"
#include "kernels/linear/batched/matmul_batched_cases.h"
#include "kernels/linear/batched/matmul_batched_run.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

std::int64_t batch_of(const View<const float>& a, const View<const float>& b) {
  return a.size(0) == 1 ? b.size(0) : a.size(0);
}

// C1 of both operations. Gives the shape of the product.
template <class Op>
Result<Shape> product_shape(const typename Op::Arguments& arguments) {
  TRY(require_rank(Op::name, "C1", "a", arguments.a, 3));
  TRY(require_rank(Op::name, "C1", "b", arguments.b, 3));
  const View<const float> a = with_transpose(arguments.a, arguments.transpose_a);
  const View<const float> b = with_transpose(arguments.b, arguments.transpose_b);
  if (a.size(0) != b.size(0) && a.size(0) != 1 && b.size(0) != 1) {
    return violated(Op::name, "C1", "expected equal batch sizes or one of 1, found a ", a.shape(), " b ", b.shape());
  }
  if (a.size(2) != b.size(1)) {
    return violated(Op::name, "C1", "expected op(a) and op(b) to share the axis summed over, found ", a.shape(),
                    " and ", b.shape());
  }
  return Shape{batch_of(a, b), a.size(1), b.size(2)};
}

}  // namespace

Result<void> MatmulBatched::check(const Arguments& a) {
  const Shape shape = TRY(product_shape<MatmulBatched>(a));
  return require_packed(name, "C2", "y", a.y, shape);
}

Cost MatmulBatched::cost(const Arguments& a) {
  const std::int64_t depth = a.a.size(a.transpose_a ? 1 : 2);
  return {.operations = 2.0 * static_cast<double>(a.y.count()) * static_cast<double>(depth),
          .bytes_read = stored_bytes(a.a) + stored_bytes(a.b),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance MatmulBatched::tolerance(const Arguments& a) {
  return sum_tolerance(a.a.size(a.transpose_a ? 1 : 2), a.a, a.b);
}

std::span<const Variant<MatmulBatched>> MatmulBatched::variants() {
  static const SimdEntries<MatmulBatched> threaded =
      entries_over<MatmulBatched>(gemm_threaded, []<SimdTarget target>() { return &batched_product<target>; });
  static const Variant<MatmulBatched> table[] = {
      matmul_batched_cuda(),
      INGOT_SIMD_ROWS(threaded, nullptr, batched_scratch),
      {"reference", {}, matmul_batched_reference},
  };
  return table;
}

Result<void> MatmulBatchedBackward::check(const Arguments& a) {
  const Shape shape = TRY(product_shape<MatmulBatchedBackward>(a));
  TRY(require_shape(name, "C2", "dy", a.dy, shape));
  if (is_present(a.da)) TRY(require_packed(name, "C3", "da", a.da, a.a.shape()));
  if (is_present(a.db)) TRY(require_packed(name, "C3", "db", a.db, a.b.shape()));
  return {};
}

Cost MatmulBatchedBackward::cost(const Arguments& a) {
  const double product = 2.0 * static_cast<double>(a.dy.count()) * static_cast<double>(a.a.size(a.transpose_a ? 1 : 2));
  Cost cost{.bytes_read = stored_bytes(a.dy)};
  if (is_present(a.da)) {
    cost.operations += product;
    cost.bytes_read += stored_bytes(a.b);
    cost.bytes_written += stored_bytes(a.da);
  }
  if (is_present(a.db)) {
    cost.operations += product;
    cost.bytes_read += stored_bytes(a.a);
    cost.bytes_written += stored_bytes(a.db);
  }
  return cost;
}

// One tolerance for both gradients: the longer of the two sums, the larger of the two factors.
Tolerance MatmulBatchedBackward::tolerance(const Arguments& a) {
  const std::int64_t longest = std::max(a.dy.size(1), a.dy.size(2)) * std::max<std::int64_t>(a.dy.size(0), 1);
  return sum_tolerance(longest, largest_magnitude(a.dy) * std::max(largest_magnitude(a.a), largest_magnitude(a.b)));
}

std::span<const Variant<MatmulBatchedBackward>> MatmulBatchedBackward::variants() {
  static const SimdEntries<MatmulBatchedBackward> threaded =
      entries_over<MatmulBatchedBackward>(gemm_threaded, []<SimdTarget target>() { return &batched_backward<target>; });
  static const Variant<MatmulBatchedBackward> table[] = {
      INGOT_SIMD_ROWS(threaded, nullptr, batched_backward_scratch),
      {"reference", {}, matmul_batched_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<MatmulBatched>();
template const Operation& describe_operation<MatmulBatchedBackward>();

}  // namespace ingot
