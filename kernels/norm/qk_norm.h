// RMS normalisation of each head of the queries and of the keys, before positions are rotated in.
//
//   q_out[t,h,i] = q_gamma[i] q[t,h,i] q_rstd[t,h],   q_rstd[t,h] = 1 / sqrt( (1/D) sum_i q[t,h,i]^2 + epsilon )
//   k_out[t,h,i] = k_gamma[i] k[t,h,i] k_rstd[t,h],   k_rstd[t,h] = 1 / sqrt( (1/D) sum_i k[t,h,i]^2 + epsilon )
//
// C1  q is [tokens, heads, D] and k is [tokens, key heads, D] with D >= 1; last axes are packed, rows may lie anywhere
// C2  q_gamma and k_gamma have shape [D], packed
// C3  q_out and k_out have the shapes of q and k, and packed last axes
// C4  q_rstd and k_rstd, where given, are [tokens, heads] and [tokens, key heads], contiguous
// C5  epsilon is finite and not negative
// In place: q_out may be q, k_out may be k.
#pragma once

#include "kernels/norm/rms_norm.h"

namespace ingot {

struct QkNorm {
  static constexpr std::string_view name = "norm.qk_norm";
  static constexpr std::string_view equation =
      "q_out[t,h] = q_gamma q[t,h] / rms(q[t,h]), k_out[t,h] = k_gamma k[t,h] / rms(k[t,h])";
  static constexpr Backward backward = Backward::by("norm.qk_norm_backward");
  static constexpr std::array in_place = {InPlace{"q_out", "q"}, InPlace{"k_out", "k"}};

  struct Arguments {
    View<const float> q;
    View<const float> k;
    View<const float> q_gamma;
    View<const float> k_gamma;
    float epsilon = 1e-6f;
    View<float> q_out;
    View<float> k_out;
    View<float> q_rstd;
    View<float> k_rstd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::q, "q"), input(&Arguments::k, "k"), weight(&Arguments::q_gamma, "q_gamma"),
                        weight(&Arguments::k_gamma, "k_gamma"), attribute(&Arguments::epsilon, "epsilon"),
                        output(&Arguments::q_out, "q_out"), output(&Arguments::k_out, "k_out"),
                        saved(&Arguments::q_rstd, "q_rstd"), saved(&Arguments::k_rstd, "k_rstd"));
    }
    RmsNorm::Arguments queries() const { return {q, q_gamma, epsilon, q_out, q_rstd}; }
    RmsNorm::Arguments keys() const { return {k, k_gamma, epsilon, k_out, k_rstd}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<QkNorm>> variants();
  static void cases(CaseList<QkNorm>& list);
};

extern const SimdEntries<QkNorm> qk_norm_simd;
extern const Variant<QkNorm> qk_norm_cuda;

// Its backward: that of the RMS norm (see rms_norm.h), for the queries and for the keys.
//
// C1  q is [tokens, heads, D] and k is [tokens, key heads, D] with D >= 1; last axes are packed, rows may lie anywhere
// C2  q_gamma, k_gamma, dq_gamma and dk_gamma have shape [D], packed
// C3  dq_out and dq have q's shape, dk_out and dk have k's, and packed last axes
// C4  q_rstd and k_rstd are [tokens, heads] and [tokens, key heads], contiguous
// In place: dq may be dq_out, dk may be dk_out.
struct QkNormBackward {
  static constexpr std::string_view name = "norm.qk_norm_backward";
  static constexpr std::string_view equation =
      "dx = rstd (gamma dx_out - xhat mean_i(gamma dx_out xhat)), dgamma = sum dx_out xhat, for x = q and x = k";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dq", "dq_out"}, InPlace{"dk", "dk_out"}};

  struct Arguments {
    View<const float> q;
    View<const float> k;
    View<const float> q_gamma;
    View<const float> k_gamma;
    View<const float> q_rstd;
    View<const float> k_rstd;
    View<const float> dq_out;
    View<const float> dk_out;
    View<float> dq;
    View<float> dk;
    View<float> dq_gamma;
    View<float> dk_gamma;

    static constexpr auto fields() {
      return field_list(input(&Arguments::q, "q"), input(&Arguments::k, "k"), weight(&Arguments::q_gamma, "q_gamma"),
                        weight(&Arguments::k_gamma, "k_gamma"), input(&Arguments::q_rstd, "q_rstd"),
                        input(&Arguments::k_rstd, "k_rstd"), input(&Arguments::dq_out, "dq_out"),
                        input(&Arguments::dk_out, "dk_out"), output(&Arguments::dq, "dq"), output(&Arguments::dk, "dk"),
                        output(&Arguments::dq_gamma, "dq_gamma"), output(&Arguments::dk_gamma, "dk_gamma"));
    }
    RmsNormBackward::Arguments queries() const { return {q, q_gamma, q_rstd, dq_out, dq, dq_gamma}; }
    RmsNormBackward::Arguments keys() const { return {k, k_gamma, k_rstd, dk_out, dk, dk_gamma}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<QkNormBackward>> variants();
  static void cases(CaseList<QkNormBackward>& list);
};

extern const SimdEntries<QkNormBackward> qk_norm_backward_simd;

}  // namespace ingot
