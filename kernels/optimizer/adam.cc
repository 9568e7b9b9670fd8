#include "kernels/optimizer/adam.h"

#include <cmath>

#include "kernels/contract/describe.h"
#include "kernels/optimizer/adam_cases.h"

namespace ingot {
namespace {

Result<void> check_adam(std::string_view operation, const AdamArguments& a) {
  TRY(check_update_tensors(operation, {{"parameters", a.parameters},
                                       {"gradient", a.gradient},
                                       {"first_moment", a.first_moment},
                                       {"second_moment", a.second_moment}}));
  TRY(require_finite_not_negative(operation, "C2", "learning_rate", a.learning_rate));
  TRY(require_finite_not_negative(operation, "C2", "weight_decay", a.weight_decay));
  TRY(require_finite_not_negative(operation, "C2", "epsilon", a.epsilon));
  TRY(require_decay_rate(operation, "C3", "beta1", a.beta1));
  TRY(require_decay_rate(operation, "C3", "beta2", a.beta2));
  if (a.step < 1) return violated(operation, "C4", "expected a step of 1 or more, found ", a.step);
  return {};
}

Tolerance adam_tolerance(const AdamArguments& a, const AdamConstants& constants) {
  const auto term = [&, gradient = Rows(a.gradient), parameters = Rows(a.parameters), first = Rows(a.first_moment),
                     second = Rows(a.second_moment)](std::int64_t row, std::int64_t i) {
    const double parameter = std::fabs(parameters[row][i]);
    const double g = std::fabs(gradient[row][i]) + constants.coupled_decay * parameter;
    const double m = a.beta1 * std::fabs(first[row][i]) + (1 - a.beta1) * g;
    const double exact_g = gradient[row][i] + constants.coupled_decay * parameters[row][i];
    const double v = a.beta2 * second[row][i] + (1 - a.beta2) * exact_g * exact_g;
    return parameter + constants.step_size * step_terms(m, v, constants.root_scale, a.epsilon);
  };
  return {.epsilons = 6,
          .scale = ErrorScale::tensor,
          .reason =
              "moments are sums that may cancel; a root, a quotient and four roundings lead from them to a "
              "parameter",
          .least_scale = largest_term(a.parameters, term)};
}

}  // namespace

AdamConstants AdamConstants::coupled(const AdamArguments& a) {
  const auto step = static_cast<double>(a.step);
  return {.coupled_decay = a.weight_decay,
          .kept = 1,
          .step_size = a.learning_rate / (1 - std::pow(a.beta1, step)),
          .root_scale = 1 / std::sqrt(1 - std::pow(a.beta2, step))};
}

AdamConstants AdamConstants::decoupled(const AdamArguments& a) {
  AdamConstants constants = coupled(a);
  constants.coupled_decay = 0;
  constants.kept = 1 - a.learning_rate * a.weight_decay;
  return constants;
}

Result<void> Adam::check(const Arguments& a) { return check_adam(name, a); }
Result<void> AdamW::check(const Arguments& a) { return check_adam(name, a); }

Cost Adam::cost(const Arguments& a) { return update_cost(a.parameters.count(), 15, 4, 3); }
Cost AdamW::cost(const Arguments& a) { return update_cost(a.parameters.count(), 14, 4, 3); }

Tolerance Adam::tolerance(const Arguments& a) { return adam_tolerance(a, AdamConstants::coupled(a)); }
Tolerance AdamW::tolerance(const Arguments& a) { return adam_tolerance(a, AdamConstants::decoupled(a)); }

std::span<const Variant<Adam>> Adam::variants() {
  static const Variant<Adam> table[] = {
      INGOT_SIMD_ROWS(adam_simd),
      {"reference", {}, adam_reference},
  };
  return table;
}

std::span<const Variant<AdamW>> AdamW::variants() {
  static const Variant<AdamW> table[] = {
      INGOT_SIMD_ROWS(adamw_simd),
      {"reference", {}, adamw_reference},
  };
  return table;
}

template const Operation& describe_operation<Adam>();
template const Operation& describe_operation<AdamW>();

}  // namespace ingot
