// Negative log-likelihood of log-probabilities against class indices; cross-entropy without its softmax.
//
//   row[r] = -w[t] x[r,t],  t = targets[r];  0 where t is ignored;  then none, sum or mean as in cross_entropy.h
//
// Constraints C1 to C5 are those of cross_entropy.h, without label smoothing.
#pragma once

#include "kernels/loss/cross_entropy.h"

namespace ingot {

struct NegativeLogLikelihood {
  static constexpr std::string_view name = "loss.negative_log_likelihood";
  static constexpr std::string_view equation = "row[r] = -w[t] x[r,t], t = targets[r]; then none, sum or mean";
  static constexpr Backward backward = Backward::by("loss.negative_log_likelihood_backward");

  struct Arguments {
    View<const float> log_probabilities;
    View<const std::int32_t> targets;
    View<const float> class_weights;
    std::int32_t ignore_index = -100;
    Reduction reduction = Reduction::mean;
    View<float> loss;

    static constexpr auto fields() {
      return field_list(input(&Arguments::log_probabilities, "log_probabilities"),
                        input(&Arguments::targets, "targets"),
                        optional_input(&Arguments::class_weights, "class_weights"),
                        attribute(&Arguments::ignore_index, "ignore_index"),
                        attribute(&Arguments::reduction, "reduction"), output(&Arguments::loss, "loss"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<NegativeLogLikelihood>> variants();
  static void cases(CaseList<NegativeLogLikelihood>& list);
};

extern const Variant<NegativeLogLikelihood> negative_log_likelihood_cuda;

// dlog_probabilities[r,c] = -g w[t] [c = t]
struct NegativeLogLikelihoodBackward {
  static constexpr std::string_view name = "loss.negative_log_likelihood_backward";
  static constexpr std::string_view equation = "dlog_probabilities[r,c] = -g w[t] [c = t], t = targets[r]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const std::int32_t> targets;
    View<const float> class_weights;
    View<const float> dloss;
    std::int32_t ignore_index = -100;
    Reduction reduction = Reduction::mean;
    View<float> dlog_probabilities;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::targets, "targets"), optional_input(&Arguments::class_weights, "class_weights"),
          input(&Arguments::dloss, "dloss"), attribute(&Arguments::ignore_index, "ignore_index"),
          attribute(&Arguments::reduction, "reduction"), output(&Arguments::dlog_probabilities, "dlog_probabilities"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<NegativeLogLikelihoodBackward>> variants();
  static void cases(CaseList<NegativeLogLikelihoodBackward>& list);
};

}  // namespace ingot
