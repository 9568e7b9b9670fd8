// Normalisation of the last axis to length one, as delta-rule attention does to queries and keys.
//
//   rstd[r] = 1 / sqrt( sum_i x[r,i]^2 + epsilon )
//   y[r,i]  = x[r,i] rstd[r]
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  y has x's shape and a packed last axis
// C3  rstd, where given, has x's shape without the last axis, and is contiguous
// C4  epsilon is finite and not negative
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct L2Norm {
  static constexpr std::string_view name = "norm.l2_norm";
  static constexpr std::string_view equation = "y[r,i] = x[r,i] / sqrt(sum_i x[r,i]^2 + epsilon)";
  static constexpr Backward backward = Backward::by("norm.l2_norm_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    float epsilon = 1e-6f;
    View<float> y;
    View<float> rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::epsilon, "epsilon"),
                        output(&Arguments::y, "y"), saved(&Arguments::rstd, "rstd"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<L2Norm>> variants();
  static void cases(CaseList<L2Norm>& list);
};

void l2_norm_reference(const L2Norm::Arguments& arguments, Context& context);
extern const SimdEntries<L2Norm> l2_norm_simd;
extern const Variant<L2Norm> l2_norm_cuda;

// Its backward:
//
//   dx[r,i] = rstd[r] ( dy[r,i] - x[r,i] rstd[r]^2 sum_j dy[r,j] x[r,j] )
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  dy and dx have x's shape and packed last axes
// C3  rstd has x's shape without the last axis, and is contiguous
// In place: dx may be dy.
struct L2NormBackward {
  static constexpr std::string_view name = "norm.l2_norm_backward";
  static constexpr std::string_view equation = "dx = rstd (dy - xhat sum_i(dy xhat)), xhat = x rstd";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> x;
    View<const float> rstd;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::rstd, "rstd"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<L2NormBackward>> variants();
  static void cases(CaseList<L2NormBackward>& list);
};

void l2_norm_backward_reference(const L2NormBackward::Arguments& arguments, Context& context);
extern const SimdEntries<L2NormBackward> l2_norm_backward_simd;

}  // namespace ingot
