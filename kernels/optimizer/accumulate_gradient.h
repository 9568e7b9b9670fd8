// Adds a micro-batch's gradient to what a step has gathered so far.
//
//   accumulator = accumulator + scale gradient
//
// C1  accumulator has rank 1 to 6; gradient has its shape; last axes are packed, rows may lie anywhere
// C2  scale is finite
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct AccumulateGradient {
  static constexpr std::string_view name = "optimizer.accumulate_gradient";
  static constexpr std::string_view equation = "accumulator[i] = accumulator[i] + scale gradient[i]";
  static constexpr Backward backward = update_has_no_backward;

  struct Arguments {
    View<const float> gradient;
    double scale = 1;
    View<float> accumulator;

    static constexpr auto fields() {
      return field_list(input(&Arguments::gradient, "gradient"), attribute(&Arguments::scale, "scale"),
                        state(&Arguments::accumulator, "accumulator"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<AccumulateGradient>> variants();
  static void cases(CaseList<AccumulateGradient>& list);
};

void accumulate_gradient_reference(const AccumulateGradient::Arguments& arguments, Context& context);
extern const SimdEntries<AccumulateGradient> accumulate_gradient_simd;

}  // namespace ingot
