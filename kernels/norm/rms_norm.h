// Root-mean-square normalisation over the last axis.
//
//   rstd[r] = 1 / sqrt( (1/D) sum_i x[r,i]^2 + epsilon )
//   y[r,i]  = gamma[i] * x[r,i] * rstd[r]
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma has shape [D], packed
// C3  y has x's shape and a packed last axis
// C4  rstd, where given, has x's shape without the last axis, and is contiguous
// C5  epsilon is finite and not negative
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct RmsNorm {
  static constexpr std::string_view name = "norm.rms_norm";
  static constexpr std::string_view equation = "y[r,i] = gamma[i] x[r,i] / sqrt(mean_i x[r,i]^2 + epsilon)";
  static constexpr Backward backward = Backward::by("norm.rms_norm_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    float epsilon = 1e-5f;
    View<float> y;
    View<float> rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::gamma, "gamma"),
                        attribute(&Arguments::epsilon, "epsilon"), output(&Arguments::y, "y"),
                        saved(&Arguments::rstd, "rstd"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RmsNorm>> variants();
  static void cases(CaseList<RmsNorm>& list);
};

void rms_norm_reference(const RmsNorm::Arguments& arguments, Context& context);
extern const SimdEntries<RmsNorm> rms_norm_simd;
extern const Variant<RmsNorm> rms_norm_cuda;

// Its backward, with xhat = x * rstd:
//
//   dgamma[i] = sum_r dy[r,i] xhat[r,i]
//   dx[r,i]   = rstd[r] ( gamma[i] dy[r,i] - xhat[r,i] (1/D) sum_j gamma[j] dy[r,j] xhat[r,j] )
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma and dgamma have shape [D], packed
// C3  dy and dx have x's shape and packed last axes
// C4  rstd has x's shape without the last axis, and is contiguous
// In place: dx may be dy.
struct RmsNormBackward {
  static constexpr std::string_view name = "norm.rms_norm_backward";
  static constexpr std::string_view equation =
      "dx = rstd (gamma dy - xhat mean_i(gamma dy xhat)), dgamma = sum_r dy xhat, xhat = x rstd";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    View<const float> rstd;
    View<const float> dy;
    View<float> dx;
    View<float> dgamma;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::gamma, "gamma"), input(&Arguments::rstd, "rstd"),
                        input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx"),
                        output(&Arguments::dgamma, "dgamma"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RmsNormBackward>> variants();
  static void cases(CaseList<RmsNormBackward>& list);
};

void rms_norm_backward_reference(const RmsNormBackward::Arguments& arguments, Context& context);
std::size_t rms_norm_backward_scratch(const RmsNormBackward::Arguments& arguments, int threads);
extern const SimdEntries<RmsNormBackward> rms_norm_backward_simd;

}  // namespace ingot
