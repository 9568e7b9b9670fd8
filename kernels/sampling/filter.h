// From logits to logits (see logits.h for masks and NaN): a token that is not kept becomes -inf.
//
//   temperature  y = logits / temperature. Zero is refused: the most likely token is sampling.greedy's answer.
//   top_k        keeps the k largest; of equal ones those with the lower index, so exactly k (or all, where k >= V)
//   top_p        keeps the shortest run of the largest, in the order of top_k, whose probabilities sum to p or more,
//   and
//                at least one; p = 1 keeps all. Probabilities are softmax(logits); weights are added one by one in that
//                order, and compared with p total in double, weights and total as weight.h defines them
//   min_p        keeps the tokens with a probability of min_p times the largest one or more:
//                logit - largest >= ln(min_p) in float, and those equal to the largest
//
// temperature keeps NaN; the others read it as -inf, and write -inf. Which tokens are kept is defined to the bit, so
// every variant keeps the same.
//
// C1  logits has shape [R, V], 1 <= V < 2^31, with a packed last axis
// C2  y has the shape of logits, with a packed last axis
// C3  temperature is finite and above 0; k >= 1; 0 < p <= 1; 0 <= min_p <= 1
// In place: y may be logits.
#pragma once

#include "kernels/sampling/logits.h"

namespace ingot {

// Op names its one attribute: Op::attribute_name, of type Number.
template <class Op, class Number>
struct FilterContract {
  static constexpr Backward backward = Backward::none(sampling::no_gradient);
  static constexpr std::array in_place = {InPlace{"y", "logits"}};

  struct Arguments {
    View<const float> logits;
    Number limit = 1;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), attribute(&Arguments::limit, Op::attribute_name),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

struct Temperature : FilterContract<Temperature, float> {
  static constexpr std::string_view name = "sampling.temperature";
  static constexpr std::string_view equation = "y = logits / temperature";
  static constexpr std::string_view attribute_name = "temperature";
};

struct SamplingTopK : FilterContract<SamplingTopK, std::int64_t> {
  static constexpr std::string_view name = "sampling.top_k";
  static constexpr std::string_view equation = "y[r,i] = logits[r,i] where it is one of the k largest, otherwise -inf";
  static constexpr std::string_view attribute_name = "k";
};

struct TopP : FilterContract<TopP, float> {
  static constexpr std::string_view name = "sampling.top_p";
  static constexpr std::string_view equation =
      "y[r,i] = logits[r,i] in the shortest run of the most likely whose probabilities reach p, otherwise -inf";
  static constexpr std::string_view attribute_name = "p";
};

struct MinP : FilterContract<MinP, float> {
  static constexpr std::string_view name = "sampling.min_p";
  static constexpr std::string_view equation =
      "y[r,i] = logits[r,i] where p_i >= min_p max_j p_j, p = softmax(logits[r]), otherwise -inf";
  static constexpr std::string_view attribute_name = "min_p";
};

template <class Op>
void filter_reference(const typename Op::Arguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& filter_simd();
template <class Op>
const Variant<Op>& filter_cuda();

}  // namespace ingot
