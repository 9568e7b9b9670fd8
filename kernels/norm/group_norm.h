// Group normalisation: the channels of an image are cut into groups, and each group of each image is normalised. One
// group a channel is instance normalisation; one group in all is layer normalisation over everything but the first
// axis.
//
//   mean[n,g] = mean of x[n,c,s] over the channels c of group g and all positions s;   rstd likewise
//   y[n,c,s]  = gamma[c] (x[n,c,s] - mean[n,g]) rstd[n,g] + beta[c]
//
// gamma left out is 1, beta left out is 0.
//
// C1  x is [N, C, positions...] of rank 2 to 6, contiguous, with C >= 1 and at least one position
// C2  groups is at least 1 and divides C
// C3  gamma and beta, where given, have shape [C], packed
// C4  y has x's shape and is contiguous
// C5  mean and rstd, where given, are [N, groups], contiguous
// C6  epsilon is finite and not negative
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct GroupNorm {
  static constexpr std::string_view name = "norm.group_norm";
  static constexpr std::string_view equation =
      "y[n,c,s] = gamma[c] (x[n,c,s] - mean[n,g]) / sqrt(variance[n,g] + epsilon) + beta[c], g = c groups / C";
  static constexpr Backward backward = Backward::by("norm.group_norm_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    View<const float> beta;
    std::int64_t groups = 1;
    float epsilon = 1e-5f;
    View<float> y;
    View<float> mean;
    View<float> rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_weight(&Arguments::gamma, "gamma"),
                        optional_weight(&Arguments::beta, "beta"), attribute(&Arguments::groups, "groups"),
                        attribute(&Arguments::epsilon, "epsilon"), output(&Arguments::y, "y"),
                        saved(&Arguments::mean, "mean"), saved(&Arguments::rstd, "rstd"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GroupNorm>> variants();
  static void cases(CaseList<GroupNorm>& list);
};

void group_norm_reference(const GroupNorm::Arguments& arguments, Context& context);
extern const SimdEntries<GroupNorm> group_norm_simd;
extern const Variant<GroupNorm> group_norm_cuda;

// Its backward, with xhat = (x - mean) rstd, v = gamma dy, and means over a group:
//
//   dgamma[c]   = sum_n,s dy[n,c,s] xhat[n,c,s]
//   dbeta[c]    = sum_n,s dy[n,c,s]
//   dx[n,c,s]   = rstd[n,g] ( v[n,c,s] - mean v - xhat[n,c,s] mean (v xhat) )
//
// C1  x is [N, C, positions...] of rank 2 to 6, contiguous, with C >= 1 and at least one position
// C2  groups is at least 1 and divides C
// C3  gamma, dgamma and dbeta, where given, have shape [C], packed
// C4  dy and dx have x's shape and are contiguous
// C5  mean and rstd are [N, groups], contiguous
// In place: dx may be dy.
struct GroupNormBackward {
  static constexpr std::string_view name = "norm.group_norm_backward";
  static constexpr std::string_view equation =
      "dx = rstd (v - mean_g v - xhat mean_g(v xhat)), v = gamma dy; dgamma = sum_ns dy xhat, dbeta = sum_ns dy";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    std::int64_t groups = 1;
    View<const float> mean;
    View<const float> rstd;
    View<const float> dy;
    View<float> dx;
    View<float> dgamma;
    View<float> dbeta;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), optional_weight(&Arguments::gamma, "gamma"),
                        attribute(&Arguments::groups, "groups"), input(&Arguments::mean, "mean"),
                        input(&Arguments::rstd, "rstd"), input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx"),
                        optional_output(&Arguments::dgamma, "dgamma"), optional_output(&Arguments::dbeta, "dbeta"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<GroupNormBackward>> variants();
  static void cases(CaseList<GroupNormBackward>& list);
};

void group_norm_backward_reference(const GroupNormBackward::Arguments& arguments, Context& context);
std::size_t group_norm_backward_scratch(const GroupNormBackward::Arguments& arguments, int threads);
extern const SimdEntries<GroupNormBackward> group_norm_backward_simd;

// How a contiguous [N, C, positions...] tensor falls into channels and groups.
struct ChannelLayout {
  std::int64_t images;
  std::int64_t channels;
  std::int64_t positions;  // of one channel

  explicit ChannelLayout(const Shape& shape) : images(shape[0]), channels(shape[1]), positions(1) {
    for (int axis = 2; axis < shape.rank(); ++axis) positions *= shape[axis];
  }
};

// C1 of every operation on channels.
Result<void> require_channels(std::string_view operation, std::string_view number, const View<const float>& x);

}  // namespace ingot
