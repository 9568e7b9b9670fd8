#include "kernels/optimizer/accumulate_gradient.h"

#include "kernels/contract/describe.h"
#include "kernels/optimizer/accumulate_gradient_cases.h"

namespace ingot {

Result<void> AccumulateGradient::check(const Arguments& a) {
  TRY(check_update_tensors(name, {{"accumulator", a.accumulator}, {"gradient", a.gradient}}));
  return require_finite_number(name, "C2", "scale", a.scale);
}

Cost AccumulateGradient::cost(const Arguments& a) { return update_cost(a.accumulator.count(), 2, 2, 1); }

Tolerance AccumulateGradient::tolerance(const Arguments&) {
  return {.epsilons = 2,
          .scale = ErrorScale::tensor,
          .reason = "a product with a rounded scale and a sum that may cancel, each rounded once"};
}

std::span<const Variant<AccumulateGradient>> AccumulateGradient::variants() {
  static const Variant<AccumulateGradient> table[] = {
      INGOT_SIMD_ROWS(accumulate_gradient_simd),
      {"reference", {}, accumulate_gradient_reference},
  };
  return table;
}

template const Operation& describe_operation<AccumulateGradient>();

}  // namespace ingot
