// Layer normalisation over the last axis.
//
//   mean[r] = (1/D) sum_i x[r,i]
//   rstd[r] = 1 / sqrt( (1/D) sum_i (x[r,i] - mean[r])^2 + epsilon )
//   y[r,i]  = gamma[i] (x[r,i] - mean[r]) rstd[r] + beta[i]
//
// gamma left out is 1, beta left out is 0. Several trailing axes are normalised by reshaping them into one.
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma and beta, where given, have shape [D], packed
// C3  y has x's shape and a packed last axis
// C4  mean and rstd, where given, have x's shape without the last axis, and are contiguous
// C5  epsilon is finite and not negative
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct LayerNorm {
  static constexpr std::string_view name = "norm.layer_norm";
  static constexpr std::string_view equation =
      "y[r,i] = gamma[i] (x[r,i] - mean[r]) / sqrt(variance[r] + epsilon) + beta[i]";
  static constexpr Backward backward = Backward::by("norm.layer_norm_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    View<const float> beta;
    float epsilon = 1e-5f;
    View<float> y;
    View<float> mean;
    View<float> rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_weight(&Arguments::gamma, "gamma"),
                        optional_weight(&Arguments::beta, "beta"), attribute(&Arguments::epsilon, "epsilon"),
                        output(&Arguments::y, "y"), saved(&Arguments::mean, "mean"), saved(&Arguments::rstd, "rstd"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LayerNorm>> variants();
  static void cases(CaseList<LayerNorm>& list);
};

void layer_norm_reference(const LayerNorm::Arguments& arguments, Context& context);
std::size_t layer_norm_scratch(const LayerNorm::Arguments& arguments, int threads);
extern const SimdEntries<LayerNorm> layer_norm_simd;
extern const Variant<LayerNorm> layer_norm_cuda;

// Its backward, with xhat = (x - mean) rstd and g = gamma dy:
//
//   dgamma[i] = sum_r dy[r,i] xhat[r,i]
//   dbeta[i]  = sum_r dy[r,i]
//   dx[r,i]   = rstd[r] ( g[r,i] - mean_j g[r,j] - xhat[r,i] mean_j (g[r,j] xhat[r,j]) )
//
// C1  x has rank 1 to 6 and a packed last axis of D >= 1 elements; rows may lie anywhere
// C2  gamma, dgamma and dbeta, where given, have shape [D], packed
// C3  dy and dx have x's shape and packed last axes
// C4  mean and rstd have x's shape without the last axis, and are contiguous
// In place: dx may be dy.
struct LayerNormBackward {
  static constexpr std::string_view name = "norm.layer_norm_backward";
  static constexpr std::string_view equation =
      "dx = rstd (g - mean_i g - xhat mean_i(g xhat)), g = gamma dy; dgamma = sum_r dy xhat, dbeta = sum_r dy";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    View<const float> mean;
    View<const float> rstd;
    View<const float> dy;
    View<float> dx;
    View<float> dgamma;
    View<float> dbeta;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_weight(&Arguments::gamma, "gamma"),
                        input(&Arguments::mean, "mean"), input(&Arguments::rstd, "rstd"), input(&Arguments::dy, "dy"),
                        output(&Arguments::dx, "dx"), optional_output(&Arguments::dgamma, "dgamma"),
                        optional_output(&Arguments::dbeta, "dbeta"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LayerNormBackward>> variants();
  static void cases(CaseList<LayerNormBackward>& list);
};

void layer_norm_backward_reference(const LayerNormBackward::Arguments& arguments, Context& context);
std::size_t layer_norm_backward_scratch(const LayerNormBackward::Arguments& arguments, int threads);
extern const SimdEntries<LayerNormBackward> layer_norm_backward_simd;

}  // namespace ingot
