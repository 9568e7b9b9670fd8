#include "kernels/routing/router_top_k.h"

#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/routing/router_top_k_cases.h"

namespace ingot {
namespace {

// C1, C4 and C5, and that chosen is [T, k].
template <class Op, class Chosen>
Result<void> check_router(const typename Op::Arguments& a, std::string_view field, const Chosen& chosen) {
  TRY(require_rank(Op::name, "C1", "logits", a.logits, 2));
  const std::int64_t experts = a.logits.size(1);
  if (experts < 1) return violated(Op::name, "C1", "expected 1 expert or more, found logits ", a.logits.shape());
  TRY(require_rank(Op::name, "C3", field, chosen, 2));
  TRY(require_shape(Op::name, "C3", field, chosen, {a.logits.size(0), chosen.size(1)}));
  if (chosen.size(1) < 1 || chosen.size(1) > experts) {
    return violated(Op::name, "C3", "expected 1 to ", experts, " experts a token, found ", chosen.shape());
  }
  TRY(require_contiguous_rows(Op::name, "C4", "logits", a.logits));
  TRY(require_contiguous_rows(Op::name, "C4", field, chosen));
  if (a.score != RouterScore::softmax && a.score != RouterScore::sigmoid) {
    return violated(Op::name, "C5", "expected score softmax (0) or sigmoid (1), found ", static_cast<int>(a.score));
  }
  if (!std::isfinite(a.scaling)) return violated(Op::name, "C5", "expected a finite scaling, found one that is not");
  return {};
}

Result<void> check_chosen(const View<const std::int32_t>& indices, std::int64_t experts) {
  constexpr std::string_view name = RouterTopKBackward::name;
  for (std::int64_t token = 0; token < indices.size(0); ++token) {
    for (std::int64_t j = 0; j < indices.size(1); ++j) {
      const std::int32_t expert = indices(token, j);
      if (expert < 0 || expert >= experts) {
        return violated(name, "C3", "expected experts in [0, ", experts, "), found ", expert, " for token ", token);
      }
      for (std::int64_t i = 0; i < j; ++i) {
        if (indices(token, i) != expert) continue;
        return violated(name, "C3", "expected a token's experts to differ, found ", expert, " twice for token ", token);
      }
    }
  }
  return {};
}

Result<void> check_groups(const RouterTopK::Arguments& a) {
  constexpr std::string_view name = RouterTopK::name;
  const std::int64_t experts = a.logits.size(1);
  if (a.group_score != GroupScore::best && a.group_score != GroupScore::best_two) {
    return violated(name, "C5", "expected group_score best (0) or best_two (1), found ",
                    static_cast<int>(a.group_score));
  }
  if (a.groups < 1 || experts % a.groups != 0) {
    return violated(name, "C6", "expected groups that divide ", experts, " experts, found ", a.groups);
  }
  if (a.groups_used < 1 || a.groups_used > a.groups || a.groups_used * (experts / a.groups) < a.indices.size(1)) {
    return violated(name, "C6", "expected 1 to ", a.groups, " groups_used that hold ", a.indices.size(1),
                    " experts or more, found ", a.groups_used);
  }
  return {};
}

// Scores in double, with and without the bias that is added to them.
std::size_t router_scratch(const RouterTopK::Arguments& a, int threads) {
  if (!a.compares_scores() || a.logits.empty()) return 0;
  return static_cast<std::size_t>(threads) * 2 * static_cast<std::size_t>(a.logits.size(1)) * sizeof(double);
}

}  // namespace

Result<void> RouterTopK::check(const Arguments& a) {
  TRY(check_router<RouterTopK>(a, "indices", a.indices));
  TRY(require_shape(name, "C3", "weights", a.weights, a.indices.shape()));
  TRY(require_contiguous_rows(name, "C4", "weights", a.weights));
  if (is_present(a.selection_bias)) {
    TRY(require_shape(name, "C2", "selection_bias", a.selection_bias, {a.logits.size(1)}));
  }
  return check_groups(a);
}

Cost RouterTopK::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {
      .operations = 22 * count, .bytes_read = 4 * count, .bytes_written = 8 * static_cast<double>(a.indices.count())};
}

Tolerance RouterTopK::tolerance(const Arguments&) {
  return {.epsilons = 8, .reason = "an exponential of 2 epsilons, and positive sums over many lanes"};
}

std::span<const Variant<RouterTopK>> RouterTopK::variants() {
  static const Variant<RouterTopK> table[] = {
      router_top_k_cuda,
      INGOT_SIMD_ROWS(router_top_k_simd, nullptr, router_scratch),
      {"reference", {}, router_top_k_reference},
  };
  return table;
}

Result<void> RouterTopKBackward::check(const Arguments& a) {
  TRY(check_router<RouterTopKBackward>(a, "indices", a.indices));
  TRY(require_shape(name, "C3", "dweights", a.dweights, a.indices.shape()));
  TRY(require_shape(name, "C1", "dlogits", a.dlogits, a.logits.shape()));
  TRY(require_contiguous_rows(name, "C4", "dweights", a.dweights));
  TRY(require_contiguous_rows(name, "C4", "dlogits", a.dlogits));
  return check_chosen(a.indices, a.logits.size(1));
}

Cost RouterTopKBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.logits.count());
  return {.operations = 24 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance RouterTopKBackward::tolerance(const Arguments&) {
  return {.epsilons = 64, .scale = ErrorScale::row, .reason = "differences that may cancel, against the row's largest"};
}

std::span<const Variant<RouterTopKBackward>> RouterTopKBackward::variants() {
  static const Variant<RouterTopKBackward> table[] = {
      {"reference", {}, router_top_k_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<RouterTopK>();
template const Operation& describe_operation<RouterTopKBackward>();

}  // namespace ingot
