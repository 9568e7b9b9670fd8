// Adagrad (Duchi, Hazan and Singer 2011).
//
//   g = gradient + weight_decay parameters
//   sum_of_squares = sum_of_squares + g^2
//   parameters = parameters - learning_rate g / (sqrt(sum_of_squares) + epsilon)
//
// A schedule such as learning_rate / (1 + step decay) is the caller's: it gives the rate of this step.
//
// C1  parameters have rank 1 to 6; gradient and sum_of_squares have their shape; last axes are packed, rows may lie
//     anywhere
// C2  learning_rate, weight_decay and epsilon are finite and not negative
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct Adagrad {
  static constexpr std::string_view name = "optimizer.adagrad";
  static constexpr std::string_view equation =
      "g = gradient + weight_decay p, h = h + g^2, p = p - learning_rate g / (sqrt(h) + epsilon)";
  static constexpr Backward backward = update_has_no_backward;

  struct Arguments {
    View<const float> gradient;
    double learning_rate = 1e-2;
    double epsilon = 1e-10;
    double weight_decay = 0;
    View<float> parameters;
    View<float> sum_of_squares;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gradient, "gradient"), attribute(&Arguments::learning_rate, "learning_rate"),
                        attribute(&Arguments::epsilon, "epsilon"), attribute(&Arguments::weight_decay, "weight_decay"),
                        state(&Arguments::parameters, "parameters"),
                        state(&Arguments::sum_of_squares, "sum_of_squares"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Adagrad>> variants();
  static void cases(CaseList<Adagrad>& list);
};

void adagrad_reference(const Adagrad::Arguments& arguments, Context& context);
extern const SimdEntries<Adagrad> adagrad_simd;

}  // namespace ingot
