// Chooses k of E experts for each token, and how much each one's answer counts.
//
//   s[t,e] = softmax_e(logits[t,e])  or  sigmoid(logits[t,e])
//   indices[t] = the k experts of greatest s[t,e] + selection_bias[e], greatest first, ties to the lower index
//   weights[t,j] = scaling s[t,indices[t,j]], divided by sum_i s[t,indices[t,i]] + 1e-20 where normalise is set
//
// The bias chooses but does not weigh (it evens out the load without a loss term). Both scores rise with the logit, so
// without a bias the logits themselves are compared, and with one the sums are compared in double: every variant
// chooses the same experts.
//
// With groups, experts stand in as many equal groups of neighbours, and only those of the groups_used groups of
// greatest score are chosen from (ties to the lower group). A group's score is the greatest s + selection_bias of its
// experts, or the sum of its two greatest. What is compared is then s + selection_bias in double too.
//
// NaN: what is compared and is not a number ranks below every number, and its weight is NaN. Under softmax a NaN, a
// positive infinity, or nothing but negative infinities among a token's logits makes all its weights NaN.
//
// C1  logits has shape [T, E] with E >= 1
// C2  selection_bias, where given, has shape [E]
// C3  indices and weights have shape [T, k] with 1 <= k <= E
// C4  the last axes of logits, indices and weights are packed
// C5  score and group_score are enumerators; scaling is finite
// C6  groups divides E; groups_used is 1 to groups, and that many groups hold k experts or more
#pragma once

#include <cmath>
#include <span>

#include "kernels/contract/contract.h"

namespace ingot {

enum class RouterScore : std::uint8_t { softmax, sigmoid };
enum class GroupScore : std::uint8_t { best, best_two };

struct RouterTopK {
  static constexpr std::string_view name = "routing.router_top_k";
  static constexpr std::string_view equation =
      "indices = top_k(s + selection_bias), weights = scaling s[indices] (/ sum s[indices]), s = softmax or sigmoid";
  static constexpr Backward backward = Backward::by("routing.router_top_k_backward");

  struct Arguments {
    View<const float> logits;
    View<const float> selection_bias;
    RouterScore score = RouterScore::softmax;
    bool normalise = false;
    float scaling = 1;
    std::int64_t groups = 1;
    std::int64_t groups_used = 1;
    GroupScore group_score = GroupScore::best;
    View<std::int32_t> indices;
    View<float> weights;

    static constexpr auto fields() {
      return field_list(
          input(&Arguments::logits, "logits"), optional_weight(&Arguments::selection_bias, "selection_bias"),
          attribute(&Arguments::score, "score"), attribute(&Arguments::normalise, "normalise"),
          attribute(&Arguments::scaling, "scaling"), attribute(&Arguments::groups, "groups"),
          attribute(&Arguments::groups_used, "groups_used"), attribute(&Arguments::group_score, "group_score"),
          output(&Arguments::indices, "indices"), output(&Arguments::weights, "weights"));
    }

    // Choices are made of s + selection_bias, not of the logits.
    bool compares_scores() const { return is_present(selection_bias) || groups > 1; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RouterTopK>> variants();
  static void cases(CaseList<RouterTopK>& list);
};

void router_top_k_reference(const RouterTopK::Arguments& arguments, Context& context);
extern const SimdEntries<RouterTopK> router_top_k_simd;
extern const Variant<RouterTopK> router_top_k_cuda;

// The places of the greatest values, greatest first, ties to the lower place, NaN last. Shared by all variants: a
// choice has no tolerance.
template <class Value>
void choose_greatest(std::span<const Value> values, std::span<std::int32_t> chosen) {
  // True where a value goes before one that stands earlier in the row.
  auto goes_before = [](Value value, Value earlier) {
    return value > earlier || (std::isnan(earlier) && !std::isnan(value));
  };
  std::size_t count = 0;
  for (std::size_t place = 0; place < values.size(); ++place) {
    std::size_t at = count < chosen.size() ? count++ : chosen.size();
    if (at == chosen.size() && !goes_before(values[place], values[static_cast<std::size_t>(chosen[at - 1])])) continue;
    if (at == chosen.size()) --at;
    for (; at > 0 && goes_before(values[place], values[static_cast<std::size_t>(chosen[at - 1])]); --at) {
      chosen[at] = chosen[at - 1];
    }
    chosen[at] = static_cast<std::int32_t>(place);
  }
}

// One token's scores in double, for the reference and for choosing under a bias.
void router_scores(std::span<const float> logits, RouterScore score, std::span<double> scores);

// Chooses and weighs one token in double. scores and choice have room for E each.
void route_token(const RouterTopK::Arguments& arguments, std::int64_t token, std::span<double> scores,
                 std::span<double> choice);

// Added to the sum that normalises, so that vanishing scores do not divide by zero; far below any score that counts.
inline constexpr double router_least_sum = 1e-20;

// Its backward, for the chosen experts as they stand (a choice has no derivative), with w = weights / scaling:
//
//   ds[j] = scaling dweights[j]                                           without normalise
//   ds[j] = scaling (dweights[j] - sum_i dweights[i] w[i]) / (sum_i s[indices[i]] + 1e-20)          with it
//   softmax: dlogits[e] = s[e] (ds[e] - sum_j ds[j] s[indices[j]]);   sigmoid: dlogits[e] = ds[e] s[e] (1 - s[e])
//
// C1  logits and dlogits have shape [T, E] with E >= 1
// C3  indices and dweights have shape [T, k] with 1 <= k <= E; a token's indices differ and lie in [0, E)
// C4, C5 as above
struct RouterTopKBackward {
  static constexpr std::string_view name = "routing.router_top_k_backward";
  static constexpr std::string_view equation =
      "dlogits[e] = s[e] (ds[e] - sum_j ds[j] s[indices[j]]) or ds[e] s[e] (1 - s[e]), ds from dweights";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> logits;
    View<const std::int32_t> indices;
    RouterScore score = RouterScore::softmax;
    bool normalise = false;
    float scaling = 1;
    View<const float> dweights;
    View<float> dlogits;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), input(&Arguments::indices, "indices"),
                        attribute(&Arguments::score, "score"), attribute(&Arguments::normalise, "normalise"),
                        attribute(&Arguments::scaling, "scaling"), input(&Arguments::dweights, "dweights"),
                        output(&Arguments::dlogits, "dlogits"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RouterTopKBackward>> variants();
  static void cases(CaseList<RouterTopKBackward>& list);
};

void router_top_k_backward_reference(const RouterTopKBackward::Arguments& arguments, Context& context);

}  // namespace ingot
