#include "kernels/optimizer/lion.h"

#include "kernels/contract/describe.h"
#include "kernels/optimizer/lion_cases.h"

namespace ingot {

Result<void> Lion::check(const Arguments& a) {
  TRY(check_update_tensors(name, {{"parameters", a.parameters}, {"gradient", a.gradient}, {"momentum", a.momentum}}));
  TRY(require_finite_not_negative(name, "C2", "learning_rate", a.learning_rate));
  TRY(require_finite_not_negative(name, "C2", "weight_decay", a.weight_decay));
  TRY(require_decay_rate(name, "C3", "beta1", a.beta1));
  return require_decay_rate(name, "C3", "beta2", a.beta2);
}

Cost Lion::cost(const Arguments& a) { return update_cost(a.parameters.count(), 10, 3, 2); }

Tolerance Lion::tolerance(const Arguments&) {
  return {.epsilons = 3,
          .scale = ErrorScale::tensor,
          .reason = "sums of two products that may cancel, each rounded up to three times; the sign itself is exact"};
}

std::span<const Variant<Lion>> Lion::variants() {
  static const Variant<Lion> table[] = {
      INGOT_SIMD_ROWS(lion_simd),
      {"reference", {}, lion_reference},
  };
  return table;
}

template const Operation& describe_operation<Lion>();

}  // namespace ingot
