#include "kernels/routing/gather.h"

#include "kernels/contract/describe.h"
#include "kernels/routing/gather_cases.h"
#include "kernels/routing/permutation.h"

namespace ingot {
namespace {

// Token rows [T, D] beside grouped rows [S, D].
template <class Op>
Result<void> check_gather(const View<const std::int32_t>& permutation, std::string_view token_field,
                          const ConstAnyView& tokens, std::string_view slot_field, const ConstAnyView& slots) {
  TRY(require_rank(Op::name, "C1", token_field, tokens, 2));
  TRY(require_permutation(Op::name, "C2", permutation));
  const std::int64_t count = permutation.size(0);
  if (tokens.size(0) == 0 ? count != 0 : count % tokens.size(0) != 0) {
    return violated(Op::name, "C2", "expected slots in a multiple of ", tokens.size(0), " tokens, found ", count);
  }
  TRY(require_shape(Op::name, "C3", slot_field, slots, {count, tokens.size(1)}));
  TRY(require_contiguous_rows(Op::name, "C4", token_field, tokens));
  TRY(require_contiguous_rows(Op::name, "C4", slot_field, slots));
  return {};
}

std::size_t gather_inverse(const RoutingGatherBackward::Arguments& a, int) { return inverse_bytes(a.permutation); }

}  // namespace

Result<void> RoutingGather::check(const Arguments& a) {
  return check_gather<RoutingGather>(a.permutation, "x", a.x, "y", a.y);
}

Cost RoutingGather::cost(const Arguments& a) {
  return {.operations = 0,
          .bytes_read = 4 * static_cast<double>(a.x.count()),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

Tolerance RoutingGather::tolerance(const Arguments&) { return Tolerance::exact("a copy"); }

std::span<const Variant<RoutingGather>> RoutingGather::variants() {
  static const Variant<RoutingGather> table[] = {
      routing_gather_cuda,
      {"rows", {}, routing_gather_rows},
      {"reference", {}, routing_gather_reference},
  };
  return table;
}

Result<void> RoutingGatherBackward::check(const Arguments& a) {
  return check_gather<RoutingGatherBackward>(a.permutation, "dx", a.dx, "dy", a.dy);
}

Cost RoutingGatherBackward::cost(const Arguments& a) {
  return {.operations = static_cast<double>(a.dy.count()),
          .bytes_read = 4 * static_cast<double>(a.dy.count()),
          .bytes_written = 4 * static_cast<double>(a.dx.count())};
}

Tolerance RoutingGatherBackward::tolerance(const Arguments&) {
  return {.epsilons = 8, .scale = ErrorScale::tensor, .reason = "a float sum of k terms that may cancel"};
}

std::span<const Variant<RoutingGatherBackward>> RoutingGatherBackward::variants() {
  static const Variant<RoutingGatherBackward> table[] = {
      INGOT_SIMD_ROWS(routing_gather_backward_simd, nullptr, gather_inverse),
      {"reference", {}, routing_gather_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<RoutingGather>();
template const Operation& describe_operation<RoutingGatherBackward>();

}  // namespace ingot
