#include "kernels/optimizer/adagrad.h"

#include "kernels/contract/describe.h"
#include "kernels/optimizer/adagrad_cases.h"

namespace ingot {

Result<void> Adagrad::check(const Arguments& a) {
  TRY(check_update_tensors(
      name, {{"parameters", a.parameters}, {"gradient", a.gradient}, {"sum_of_squares", a.sum_of_squares}}));
  TRY(require_finite_not_negative(name, "C2", "learning_rate", a.learning_rate));
  TRY(require_finite_not_negative(name, "C2", "weight_decay", a.weight_decay));
  return require_finite_not_negative(name, "C2", "epsilon", a.epsilon);
}

Cost Adagrad::cost(const Arguments& a) { return update_cost(a.parameters.count(), 9, 3, 2); }

Tolerance Adagrad::tolerance(const Arguments& a) {
  const auto term = [&a, gradient = Rows(a.gradient), parameters = Rows(a.parameters), sums = Rows(a.sum_of_squares)](
                        std::int64_t row, std::int64_t i) {
    const double parameter = parameters[row][i];
    const double g = gradient[row][i] + a.weight_decay * parameter;
    const double terms = std::fabs(gradient[row][i]) + a.weight_decay * std::fabs(parameter);
    return std::fabs(parameter) + a.learning_rate * step_terms(terms, sums[row][i] + g * g, 1, a.epsilon);
  };
  return {.epsilons = 6,
          .scale = ErrorScale::tensor,
          .reason = "a gradient that may cancel with its decay, then a root, a quotient and two roundings",
          .least_scale = largest_term(a.parameters, term)};
}

std::span<const Variant<Adagrad>> Adagrad::variants() {
  static const Variant<Adagrad> table[] = {
      INGOT_SIMD_ROWS(adagrad_simd),
      {"reference", {}, adagrad_reference},
  };
  return table;
}

template const Operation& describe_operation<Adagrad>();

}  // namespace ingot
