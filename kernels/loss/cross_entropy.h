// Cross-entropy of logits against class indices, with label smoothing s, class weights w and an ignored index.
//
//   lse[r]  = log sum_c exp(x[r,c])
//   row[r]  = (1-s) w[t] (lse[r] - x[r,t]) + (s/C) sum_c w[c] (lse[r] - x[r,c]),   t = targets[r];  0 where t is
//   ignored loss    = row (none) | sum_r row (sum) | sum_r row / sum_r w[targets[r]] (mean; 0 where every row is
//   ignored)
//
// C1  logits are [R, C] with C >= 1 and a packed last axis; targets are [R]
// C2  every target is ignore_index or in [0, C)
// C3  class_weights, where given, are [C] and contiguous
// C4  loss is [R] for none, [1] otherwise; log_sum_exp, where given, is [R]; both contiguous
// C5  label_smoothing is in [0, 1]; reduction is none, sum or mean
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

enum class Reduction : std::uint8_t { none, sum, mean };

struct CrossEntropy {
  static constexpr std::string_view name = "loss.cross_entropy";
  static constexpr std::string_view equation =
      "row[r] = (1-s) w[t] (lse[r] - x[r,t]) + s/C sum_c w[c] (lse[r] - x[r,c]), t = targets[r]; then none, sum or "
      "mean";
  static constexpr Backward backward = Backward::by("loss.cross_entropy_backward");

  struct Arguments {
    View<const float> logits;
    View<const std::int32_t> targets;
    View<const float> class_weights;
    std::int32_t ignore_index = -100;
    float label_smoothing = 0;
    Reduction reduction = Reduction::mean;
    View<float> loss;
    View<float> log_sum_exp;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), input(&Arguments::targets, "targets"),
                        optional_input(&Arguments::class_weights, "class_weights"),
                        attribute(&Arguments::ignore_index, "ignore_index"),
                        attribute(&Arguments::label_smoothing, "label_smoothing"),
                        attribute(&Arguments::reduction, "reduction"), output(&Arguments::loss, "loss"),
                        saved(&Arguments::log_sum_exp, "log_sum_exp"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CrossEntropy>> variants();
  static void cases(CaseList<CrossEntropy>& list);
};

void cross_entropy_reference(const CrossEntropy::Arguments& arguments, Context& context);
extern const SimdEntries<CrossEntropy> cross_entropy_simd;
extern const Variant<CrossEntropy> cross_entropy_cuda;

// Its backward, with p[r,c] = exp(x[r,c] - lse[r]) and g the gradient that reaches row r:
//
//   dlogits[r,c] = g ( (1-s) w[t] (p[r,c] - [c = t]) + (s/C) (p[r,c] sum_k w[k] - w[c]) )
//
// C1 to C3 and C5 as the forward; C4: dloss has the loss's shape, log_sum_exp is [R], dlogits have logits' shape with a
// packed last axis. In place: dlogits may be logits.
struct CrossEntropyBackward {
  static constexpr std::string_view name = "loss.cross_entropy_backward";
  static constexpr std::string_view equation =
      "dlogits[r,c] = g ((1-s) w[t] (p[r,c] - [c = t]) + s/C (p[r,c] sum w - w[c])), p = exp(x - lse)";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dlogits", "logits"}};

  struct Arguments {
    View<const float> logits;
    View<const std::int32_t> targets;
    View<const float> class_weights;
    View<const float> log_sum_exp;
    View<const float> dloss;
    std::int32_t ignore_index = -100;
    float label_smoothing = 0;
    Reduction reduction = Reduction::mean;
    View<float> dlogits;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), input(&Arguments::targets, "targets"),
                        optional_input(&Arguments::class_weights, "class_weights"),
                        input(&Arguments::log_sum_exp, "log_sum_exp"), input(&Arguments::dloss, "dloss"),
                        attribute(&Arguments::ignore_index, "ignore_index"),
                        attribute(&Arguments::label_smoothing, "label_smoothing"),
                        attribute(&Arguments::reduction, "reduction"), output(&Arguments::dlogits, "dlogits"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CrossEntropyBackward>> variants();
  static void cases(CaseList<CrossEntropyBackward>& list);
};

void cross_entropy_backward_reference(const CrossEntropyBackward::Arguments& arguments, Context& context);
extern const SimdEntries<CrossEntropyBackward> cross_entropy_backward_simd;

}  // namespace ingot
