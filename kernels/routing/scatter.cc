#include "kernels/routing/scatter.h"

#include "kernels/contract/describe.h"
#include "kernels/routing/permutation.h"
#include "kernels/routing/scatter_cases.h"

namespace ingot {
namespace {

// Grouped rows [S, D] beside rows in the order of choices [T, k, D].
template <class Op>
Result<void> check_scatter(const View<const std::int32_t>& permutation, std::string_view slot_field,
                           const ConstAnyView& slots, std::string_view choice_field, const ConstAnyView& choices) {
  TRY(require_rank(Op::name, "C1", slot_field, slots, 2));
  TRY(require_permutation(Op::name, "C2", permutation));
  const std::int64_t count = permutation.size(0);
  TRY(require_shape(Op::name, "C1", slot_field, slots, {count, slots.size(1)}));
  TRY(require_rank(Op::name, "C3", choice_field, choices, 3));
  const std::int64_t per_token = choices.size(1);
  // Written as a division: a product of hostile sizes could overflow.
  if (per_token < 1 || count % per_token != 0 || choices.size(0) != count / per_token ||
      choices.size(2) != slots.size(1)) {
    return violated(Op::name, "C3", "expected ", choice_field, " of shape [T, k, ", slots.size(1),
                    "] with T k = ", count, " and k >= 1, found ", choices.shape());
  }
  TRY(require_contiguous_rows(Op::name, "C4", slot_field, slots));
  TRY(require_contiguous_rows(Op::name, "C4", choice_field, choices));
  return {};
}

Cost cost_of_copy(const ConstAnyView& rows) {
  const auto bytes = 4 * static_cast<double>(rows.count());
  return {.operations = 0, .bytes_read = bytes, .bytes_written = bytes};
}

}  // namespace

Result<void> RoutingScatter::check(const Arguments& a) {
  return check_scatter<RoutingScatter>(a.permutation, "x", a.x, "y", a.y);
}

Cost RoutingScatter::cost(const Arguments& a) { return cost_of_copy(a.x); }

Tolerance RoutingScatter::tolerance(const Arguments&) { return Tolerance::exact("a copy"); }

std::span<const Variant<RoutingScatter>> RoutingScatter::variants() {
  static const Variant<RoutingScatter> table[] = {
      routing_scatter_cuda,
      {"rows", {}, routing_scatter_rows},
      {"reference", {}, routing_scatter_reference},
  };
  return table;
}

Result<void> RoutingScatterBackward::check(const Arguments& a) {
  return check_scatter<RoutingScatterBackward>(a.permutation, "dx", a.dx, "dy", a.dy);
}

Cost RoutingScatterBackward::cost(const Arguments& a) { return cost_of_copy(a.dx); }

Tolerance RoutingScatterBackward::tolerance(const Arguments&) { return Tolerance::exact("a copy"); }

std::span<const Variant<RoutingScatterBackward>> RoutingScatterBackward::variants() {
  static const Variant<RoutingScatterBackward> table[] = {
      {"rows", {}, routing_scatter_backward_rows},
      {"reference", {}, routing_scatter_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<RoutingScatter>();
template const Operation& describe_operation<RoutingScatterBackward>();

}  // namespace ingot
