#include "kernels/optimizer/sgd.h"

#include "kernels/contract/describe.h"
#include "kernels/contract/magnitude.h"
#include "kernels/optimizer/sgd_cases.h"

namespace ingot {

Result<void> Sgd::check(const Arguments& a) {
  TRY(check_update_tensors(name, {{"parameters", a.parameters}, {"gradient", a.gradient}}));
  TRY(require_finite_not_negative(name, "C2", "learning_rate", a.learning_rate));
  TRY(require_finite_not_negative(name, "C2", "weight_decay", a.weight_decay));
  TRY(require_finite_not_negative(name, "C3", "momentum", a.momentum));
  TRY(require_finite_number(name, "C3", "dampening", a.dampening));
  if (is_present(a.buffer)) return check_update_tensors(name, {{"parameters", a.parameters}, {"buffer", a.buffer}});
  if (a.momentum != 0 || a.dampening != 0 || a.nesterov) {
    return violated(name, "C4", "expected a buffer for momentum, dampening or nesterov, found none");
  }
  return {};
}

Cost Sgd::cost(const Arguments& a) {
  return is_present(a.buffer) ? update_cost(a.parameters.count(), a.nesterov ? 9 : 7, 3, 2)
                              : update_cost(a.parameters.count(), 4, 2, 1);
}

Tolerance Sgd::tolerance(const Arguments& a) {
  const double parameter = largest_magnitude(a.parameters);
  const double gradient = largest_magnitude(a.gradient) + a.weight_decay * parameter;
  const double step = (1 + a.momentum) * (gradient + a.momentum * largest_magnitude(a.buffer));
  return {.epsilons = 4,
          .scale = ErrorScale::tensor,
          .reason = "sums of up to four products that may cancel, each rounded once or twice",
          .least_scale = a.learning_rate * step};
}

std::span<const Variant<Sgd>> Sgd::variants() {
  static const Variant<Sgd> table[] = {
      INGOT_SIMD_ROWS(sgd_simd),
      {"reference", {}, sgd_reference},
  };
  return table;
}

template const Operation& describe_operation<Sgd>();

}  // namespace ingot
