// Lion (Chen et al. 2023): only the sign of an interpolated gradient moves a parameter.
//
//   direction  = sign(beta1 momentum + (1 - beta1) gradient)
//   parameters = (1 - learning_rate weight_decay) parameters - learning_rate direction
//   momentum   = beta2 momentum + (1 - beta2) gradient
//
// sign(0) is 0 and the sign of NaN is NaN. A sign jumps, so what it is taken of must not depend on the variant: it is
// the exact sum of the products of momentum with beta1 and of gradient with 1 - beta1, both factors rounded to float.
//
// C1  parameters have rank 1 to 6; gradient and momentum have their shape; last axes are packed, rows may lie anywhere
// C2  learning_rate and weight_decay are finite and not negative
// C3  beta1 and beta2 are in [0, 1)
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct Lion {
  static constexpr std::string_view name = "optimizer.lion";
  static constexpr std::string_view equation =
      "p = (1 - learning_rate weight_decay) p - learning_rate sign(beta1 m + (1 - beta1) g), m = beta2 m + (1 - beta2) "
      "g";
  static constexpr Backward backward = update_has_no_backward;

  struct Arguments {
    View<const float> gradient;
    double learning_rate = 1e-4;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double weight_decay = 0;
    View<float> parameters;
    View<float> momentum;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gradient, "gradient"), attribute(&Arguments::learning_rate, "learning_rate"),
                        attribute(&Arguments::beta1, "beta1"), attribute(&Arguments::beta2, "beta2"),
                        attribute(&Arguments::weight_decay, "weight_decay"),
                        state(&Arguments::parameters, "parameters"), state(&Arguments::momentum, "momentum"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Lion>> variants();
  static void cases(CaseList<Lion>& list);
};

void lion_reference(const Lion::Arguments& arguments, Context& context);
extern const SimdEntries<Lion> lion_simd;

}  // namespace ingot
