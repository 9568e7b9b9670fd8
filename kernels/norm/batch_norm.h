// Batch normalisation with statistics gathered earlier (inference).
//
//   y[n,c,s] = gamma[c] (x[n,c,s] - mean[c]) / sqrt(variance[c] + epsilon) + beta[c]
//
// C1  x is [N, C, positions...] of rank 2 to 6, contiguous, with C >= 1 and at least one position
// C2  gamma, beta, mean and variance have shape [C], packed
// C3  y has x's shape and is contiguous
// C4  epsilon is finite and not negative
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct BatchNorm {
  static constexpr std::string_view name = "norm.batch_norm";
  static constexpr std::string_view equation =
      "y[n,c,s] = gamma[c] (x[n,c,s] - mean[c]) / sqrt(variance[c] + epsilon) + beta[c]";
  static constexpr Backward backward = Backward::none("the inference form: training normalises by the batch itself");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<const float> gamma;
    View<const float> beta;
    View<const float> mean;
    View<const float> variance;
    float epsilon = 1e-5f;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::gamma, "gamma"), weight(&Arguments::beta, "beta"),
                        weight(&Arguments::mean, "mean"), weight(&Arguments::variance, "variance"),
                        attribute(&Arguments::epsilon, "epsilon"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<BatchNorm>> variants();
  static void cases(CaseList<BatchNorm>& list);
};

extern const SimdEntries<BatchNorm> batch_norm_simd;
extern const Variant<BatchNorm> batch_norm_cuda;

}  // namespace ingot
