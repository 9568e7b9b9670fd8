// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), which differ in where weight decay enters.
//
//   Adam:   g = gradient + weight_decay parameters
//   AdamW:  g = gradient,  parameters = (1 - learning_rate weight_decay) parameters
//   both:   m = beta1 m + (1 - beta1) g
//           v = beta2 v + (1 - beta2) g^2
//           parameters = parameters - learning_rate mhat / (sqrt(vhat) + epsilon)
//           with mhat = m / (1 - beta1^step) and vhat = v / (1 - beta2^step)
//
// m is first_moment, v is second_moment; the arithmetic expects v not to be negative (a square root of it is taken).
//
// C1  parameters have rank 1 to 6; gradient and both moments have their shape; last axes are packed, rows may lie
//     anywhere
// C2  learning_rate, weight_decay and epsilon are finite and not negative
// C3  beta1 and beta2 are in [0, 1)
// C4  step is 1 or more: it counts the updates, this one included
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct AdamArguments {
  View<const float> gradient;
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  std::int64_t step = 1;
  View<float> parameters;
  View<float> first_moment;
  View<float> second_moment;

  static constexpr auto fields() {
    return field_list(
        input(&AdamArguments::gradient, "gradient"), attribute(&AdamArguments::learning_rate, "learning_rate"),
        attribute(&AdamArguments::beta1, "beta1"), attribute(&AdamArguments::beta2, "beta2"),
        attribute(&AdamArguments::epsilon, "epsilon"), attribute(&AdamArguments::weight_decay, "weight_decay"),
        attribute(&AdamArguments::step, "step"), state(&AdamArguments::parameters, "parameters"),
        state(&AdamArguments::first_moment, "first_moment"), state(&AdamArguments::second_moment, "second_moment"));
  }
};

struct Adam {
  static constexpr std::string_view name = "optimizer.adam";
  static constexpr std::string_view equation =
      "g = gradient + weight_decay p, m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, p = p - "
      "learning_rate mhat / (sqrt(vhat) + epsilon)";
  static constexpr Backward backward = update_has_no_backward;
  using Arguments = AdamArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Adam>> variants();
  static void cases(CaseList<Adam>& list);
};

struct AdamW {
  static constexpr std::string_view name = "optimizer.adamw";
  static constexpr std::string_view equation =
      "m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, p = (1 - learning_rate weight_decay) p - "
      "learning_rate mhat / (sqrt(vhat) + epsilon)";
  static constexpr Backward backward = update_has_no_backward;
  using Arguments = AdamArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<AdamW>> variants();
  static void cases(CaseList<AdamW>& list);
};

// What does not change within a step. The bias corrections are folded into two factors:
//   learning_rate mhat / (sqrt(vhat) + epsilon) = step_size m / (root_scale sqrt(v) + epsilon)
struct AdamConstants {
  double coupled_decay;  // added to the gradient, times the parameter
  double kept;           // what is left of a parameter before the step
  double step_size;
  double root_scale;

  static AdamConstants coupled(const AdamArguments& arguments);
  static AdamConstants decoupled(const AdamArguments& arguments);
};

void adam_reference(const AdamArguments& arguments, Context& context);
void adamw_reference(const AdamArguments& arguments, Context& context);
extern const SimdEntries<Adam> adam_simd;
extern const SimdEntries<AdamW> adamw_simd;

}  // namespace ingot
