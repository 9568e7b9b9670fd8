// Stochastic gradient descent, with momentum where a buffer is given.
//
//   g      = gradient + weight_decay parameters
//   buffer = momentum buffer + (1 - dampening) g
//   step   = buffer                 with a buffer
//            g + momentum buffer    with a buffer and nesterov
//            g                      without a buffer
//   parameters = parameters - learning_rate step
//
// A fresh buffer is all zeros; who wants its first value to be the whole gradient passes no dampening in step one.
//
// C1  parameters have rank 1 to 6; gradient and buffer have their shape; last axes are packed, rows may lie anywhere
// C2  learning_rate and weight_decay are finite and not negative
// C3  momentum is finite and not negative, dampening is finite
// C4  without a buffer, momentum and dampening are 0 and nesterov is false
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct Sgd {
  static constexpr std::string_view name = "optimizer.sgd";
  static constexpr std::string_view equation =
      "g = gradient + weight_decay p, b = momentum b + (1 - dampening) g, p = p - learning_rate b (nesterov: g + "
      "momentum b)";
  static constexpr Backward backward = update_has_no_backward;

  struct Arguments {
    View<const float> gradient;
    double learning_rate = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    View<float> parameters;
    View<float> buffer;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gradient, "gradient"), attribute(&Arguments::learning_rate, "learning_rate"),
                        attribute(&Arguments::momentum, "momentum"), attribute(&Arguments::dampening, "dampening"),
                        attribute(&Arguments::weight_decay, "weight_decay"),
                        attribute(&Arguments::nesterov, "nesterov"), state(&Arguments::parameters, "parameters"),
                        optional_state(&Arguments::buffer, "buffer"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Sgd>> variants();
  static void cases(CaseList<Sgd>& list);
};

void sgd_reference(const Sgd::Arguments& arguments, Context& context);
extern const SimdEntries<Sgd> sgd_simd;

}  // namespace ingot
