// Scales a gradient down to a largest norm, in place.
//
//   factor = min(1, max_norm / (norm + 1e-6)),  x = factor x
//
// The factor is rounded to float before it is applied. It is 1, and x stays as it is, for gradients within the norm; it
// is NaN for a norm of NaN, so that a broken gradient is not hidden.
//
// C1  x has rank 1 to 6 and a packed last axis; rows may lie anywhere
// C2  norm has shape [1]; it is what optimizer.global_norm gave
// C3  max_norm is finite and not negative
#pragma once

#include "kernels/optimizer/update_checks.h"

namespace ingot {

struct ClipByNorm {
  static constexpr std::string_view name = "optimizer.clip_by_norm";
  static constexpr std::string_view equation = "x[i] = x[i] min(1, max_norm / (norm + 1e-6))";
  static constexpr Backward backward = update_has_no_backward;

  struct Arguments {
    View<const float> norm;
    double max_norm = 1;
    View<float> x;

    static constexpr auto fields() {
      return field_list(input(&Arguments::norm, "norm"), attribute(&Arguments::max_norm, "max_norm"),
                        state(&Arguments::x, "x"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ClipByNorm>> variants();
  static void cases(CaseList<ClipByNorm>& list);
};

float clip_factor(const ClipByNorm::Arguments& arguments);

void clip_by_norm_reference(const ClipByNorm::Arguments& arguments, Context& context);
extern const SimdEntries<ClipByNorm> clip_by_norm_simd;

}  // namespace ingot
