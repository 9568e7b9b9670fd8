#include "kernels/routing/group_tokens.h"

#include "kernels/contract/describe.h"
#include "kernels/routing/expert_indices.h"
#include "kernels/routing/group_tokens_cases.h"

namespace ingot {

Result<void> GroupTokens::check(const Arguments& a) {
  TRY(require_rank(name, "C2", "offsets", a.offsets, 1));
  const std::int64_t experts = a.offsets.size(0) - 1;
  if (experts < 1) return violated(name, "C2", "expected offsets of 1 expert or more, found ", a.offsets.shape());
  TRY(require_expert_indices(name, "C1", "C4", a.indices, experts));
  return require_shape(name, "C3", "permutation", a.permutation, {a.indices.count()});
}

Cost GroupTokens::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.indices.count());
  return {.operations = 3 * count,
          .bytes_read = 4 * count,
          .bytes_written = 4 * (count + static_cast<double>(a.offsets.count()))};
}

Tolerance GroupTokens::tolerance(const Arguments&) { return Tolerance::exact("integers"); }

// The reference is the only variant on the host: its time vanishes beside the rows that are then moved.
std::span<const Variant<GroupTokens>> GroupTokens::variants() {
  static const Variant<GroupTokens> table[] = {
      group_tokens_cuda,
      {"reference", {}, group_tokens_reference},
  };
  return table;
}

template const Operation& describe_operation<GroupTokens>();

}  // namespace ingot
