// The slopes of attention with linear biases: head h subtracts slopes[h] * distance from its scores.
//
// With n the largest power of two of at most H:
//
//   slopes[h] = 2^(-max_bias (h + 1) / n)                     for h < n
//   slopes[h] = 2^(-max_bias (2 (h - n) + 1) / (2 n))         for h >= n: every other slope of 2n heads
//
// C1  slopes has shape [H]
// C2  max_bias is finite and positive (8 in the models that use it)
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct AlibiSlopes {
  static constexpr std::string_view name = "position.alibi_slopes";
  static constexpr std::string_view equation = "slopes[h] = 2^(-max_bias (h+1) / n), n the power of two in H";
  static constexpr Backward backward = Backward::none("constants of the architecture");

  struct Arguments {
    float max_bias = 8;
    View<float> slopes;

    static constexpr auto fields() {
      return field_list(attribute(&Arguments::max_bias, "max_bias"), output(&Arguments::slopes, "slopes"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<AlibiSlopes>> variants();
  static void cases(CaseList<AlibiSlopes>& list);
};

void alibi_slopes_reference(const AlibiSlopes::Arguments& arguments, Context& context);
extern const Variant<AlibiSlopes> alibi_slopes_cuda;

}  // namespace ingot
