#include "kernels/routing/combine.h"

#include "kernels/contract/describe.h"
#include "kernels/routing/combine_cases.h"
#include "kernels/routing/permutation.h"

namespace ingot {
namespace {

// C1 to C3 and C5 for x, permutation and weights. Gives the shape of the tokens' rows.
template <class Op>
Result<Shape> check_combine(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 2));
  TRY(require_permutation(Op::name, "C2", a.permutation));
  const std::int64_t count = a.permutation.size(0);
  TRY(require_shape(Op::name, "C1", "x", a.x, {count, a.x.size(1)}));
  TRY(require_rank(Op::name, "C3", "weights", a.weights, 2));
  const std::int64_t per_token = a.weights.size(1);
  // Written as a division: a product of hostile sizes could overflow.
  if (per_token < 1 || count % per_token != 0 || a.weights.size(0) != count / per_token) {
    return violated(Op::name, "C3", "expected weights of shape [T, k] with T k = ", count, " and k >= 1, found ",
                    a.weights.shape());
  }
  TRY(require_contiguous_rows(Op::name, "C5", "x", a.x));
  return Shape{a.weights.size(0), a.x.size(1)};
}

template <class Arguments>
std::size_t combine_inverse(const Arguments& a, int) {
  return inverse_bytes(a.permutation);
}

}  // namespace

Result<void> RoutingCombine::check(const Arguments& a) {
  const Shape tokens = TRY(check_combine<RoutingCombine>(a));
  TRY(require_shape(name, "C4", "y", a.y, tokens));
  return require_contiguous_rows(name, "C5", "y", a.y);
}

Cost RoutingCombine::cost(const Arguments& a) {
  return {.operations = 2 * static_cast<double>(a.x.count()),
          .bytes_read = 4 * static_cast<double>(a.x.count()),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

Tolerance RoutingCombine::tolerance(const Arguments&) {
  return {.epsilons = 8, .scale = ErrorScale::tensor, .reason = "a float sum of k products that may cancel"};
}

std::span<const Variant<RoutingCombine>> RoutingCombine::variants() {
  static const Variant<RoutingCombine> table[] = {
      routing_combine_cuda,
      INGOT_SIMD_ROWS(routing_combine_simd, nullptr, combine_inverse<Arguments>),
      {"reference", {}, routing_combine_reference},
  };
  return table;
}

Result<void> RoutingCombineBackward::check(const Arguments& a) {
  const Shape tokens = TRY(check_combine<RoutingCombineBackward>(a));
  TRY(require_shape(name, "C4", "dy", a.dy, tokens));
  TRY(require_shape(name, "C1", "dx", a.dx, a.x.shape()));
  TRY(require_shape(name, "C3", "dweights", a.dweights, a.weights.shape()));
  TRY(require_contiguous_rows(name, "C5", "dy", a.dy));
  return require_contiguous_rows(name, "C5", "dx", a.dx);
}

Cost RoutingCombineBackward::cost(const Arguments& a) {
  return {.operations = 3 * static_cast<double>(a.x.count()),
          .bytes_read = 4 * (static_cast<double>(a.x.count()) + static_cast<double>(a.dy.count())),
          .bytes_written = 4 * static_cast<double>(a.x.count())};
}

Tolerance RoutingCombineBackward::tolerance(const Arguments&) {
  // Where numbers are special few sums are finite, and the largest of those may be small beside its terms: 55 was seen.
  return {.epsilons = 128,
          .scale = ErrorScale::tensor,
          .reason = "dweights is a dot product over D, whose terms may cancel"};
}

std::span<const Variant<RoutingCombineBackward>> RoutingCombineBackward::variants() {
  static const Variant<RoutingCombineBackward> table[] = {
      INGOT_SIMD_ROWS(routing_combine_backward_simd),
      {"reference", {}, routing_combine_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<RoutingCombine>();
template const Operation& describe_operation<RoutingCombineBackward>();

}  // namespace ingot
