// The residual connection and the RMS norm behind it, in one pass over memory.
//
//   sum[r,i] = x[r,i] + residual[r,i]
//   rstd[r]  = 1 / sqrt( (1/D) sum_i sum[r,i]^2 + epsilon )
//   y[r,i]   = gamma[i] * sum[r,i] * rstd[r]
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma has shape [D], packed
// C3  residual, sum and y have x's shape and packed last axes
// C4  rstd, where given, has x's shape without the last axis, and is contiguous
// C5  epsilon is finite and not negative
// In place: sum may be x or residual, and so may y.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct ResidualRmsNorm {
  static constexpr std::string_view name = "norm.residual_rms_norm";
  static constexpr std::string_view equation =
      "sum = x + residual, y[r,i] = gamma[i] sum[r,i] / sqrt(mean_i sum[r,i]^2 + epsilon)";
  static constexpr Backward backward = Backward::by("norm.residual_rms_norm_backward");
  static constexpr std::array in_place = {InPlace{"sum", "x"}, InPlace{"sum", "residual"}, InPlace{"y", "x"},
                                          InPlace{"y", "residual"}};

  struct Arguments {
    View<const float> x;
    View<const float> residual;
    View<const float> gamma;
    float epsilon = 1e-5f;
    View<float> sum;
    View<float> y;
    View<float> rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), input(&Arguments::residual, "residual"),
                        weight(&Arguments::gamma, "gamma"), attribute(&Arguments::epsilon, "epsilon"),
                        output(&Arguments::sum, "sum"), output(&Arguments::y, "y"), saved(&Arguments::rstd, "rstd"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ResidualRmsNorm>> variants();
  static void cases(CaseList<ResidualRmsNorm>& list);
};

void residual_rms_norm_reference(const ResidualRmsNorm::Arguments& arguments, Context& context);
extern const SimdEntries<ResidualRmsNorm> residual_rms_norm_simd;
extern const Variant<ResidualRmsNorm> residual_rms_norm_cuda;

// Its backward, with xhat = sum * rstd. dsum is the gradient that reaches sum along the residual stream.
//
//   dx[r,i]   = dresidual[r,i] = dsum[r,i] + rstd[r] ( gamma[i] dy[r,i] - xhat[r,i] mean_j (gamma[j] dy[r,j] xhat[r,j])
//   ) dgamma[i] = sum_r dy[r,i] xhat[r,i]
//
// dsum left out is 0; dresidual may be left out, for it holds what dx holds.
//
// C1  sum has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma and dgamma have shape [D], packed
// C3  dy, dsum, dx and dresidual have sum's shape and packed last axes
// C4  rstd has sum's shape without the last axis, and is contiguous
// In place: dx may be dy or dsum.
struct ResidualRmsNormBackward {
  static constexpr std::string_view name = "norm.residual_rms_norm_backward";
  static constexpr std::string_view equation =
      "dx = dresidual = dsum + rstd (gamma dy - xhat mean_i(gamma dy xhat)), dgamma = sum_r dy xhat, xhat = sum rstd";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}, InPlace{"dx", "dsum"}};

  struct Arguments {
    View<const float> sum;
    View<const float> gamma;
    View<const float> rstd;
    View<const float> dy;
    View<const float> dsum;
    View<float> dx;
    View<float> dresidual;
    View<float> dgamma;

    static constexpr auto fields() {
      return field_list(input(&Arguments::sum, "sum"), weight(&Arguments::gamma, "gamma"),
                        input(&Arguments::rstd, "rstd"), input(&Arguments::dy, "dy"),
                        optional_input(&Arguments::dsum, "dsum"), output(&Arguments::dx, "dx"),
                        optional_output(&Arguments::dresidual, "dresidual"), output(&Arguments::dgamma, "dgamma"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ResidualRmsNormBackward>> variants();
  static void cases(CaseList<ResidualRmsNormBackward>& list);
};

void residual_rms_norm_backward_reference(const ResidualRmsNormBackward::Arguments& arguments, Context& context);
std::size_t residual_rms_norm_backward_scratch(const ResidualRmsNormBackward::Arguments& arguments, int threads);
extern const SimdEntries<ResidualRmsNormBackward> residual_rms_norm_backward_simd;

}  // namespace ingot
