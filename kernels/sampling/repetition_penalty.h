// Makes tokens that were already produced less likely. With n the number of times token i occurs in the row's history:
//
//   scaled  = logits[r,i] / repetition where logits[r,i] > 0, otherwise logits[r,i] repetition
//   y[r,i]  = scaled - (presence + frequency n)   where n > 0, otherwise logits[r,i]
//
// computed in double and rounded once. repetition = 1, presence = 0 or frequency = 0 switch a penalty off; negative
// presence and frequency reward. A masked token (-inf) stays masked, a NaN stays NaN: it is the filters' to drop.
//
// C1  logits has shape [R, V], 1 <= V < 2^31, with a packed last axis
// C2  y has the shape of logits, with a packed last axis
// C3  history has shape [R, N] with a packed last axis; each entry is a token in [0, V), or -1: no token
// C4  repetition is finite and above 0; presence and frequency are finite
// In place: y may be logits.
#pragma once

#include "kernels/sampling/logits.h"

namespace ingot {

struct RepetitionPenalty {
  static constexpr std::string_view name = "sampling.repetition_penalty";
  static constexpr std::string_view equation =
      "y = (logits / repetition where > 0, otherwise logits repetition) - (presence + frequency n), where n > 0";
  static constexpr Backward backward = Backward::none(sampling::no_gradient);
  static constexpr std::array in_place = {InPlace{"y", "logits"}};

  struct Arguments {
    View<const float> logits;
    View<const std::int32_t> history;
    float repetition = 1;
    float presence = 0;
    float frequency = 0;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), input(&Arguments::history, "history"),
                        attribute(&Arguments::repetition, "repetition"), attribute(&Arguments::presence, "presence"),
                        attribute(&Arguments::frequency, "frequency"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RepetitionPenalty>> variants();
  static void cases(CaseList<RepetitionPenalty>& list);
};

namespace sampling {
// What becomes of the logit of a token that occurred `occurrences` times, 1 or more.
float penalised(const RepetitionPenalty::Arguments& arguments, float logit, std::int64_t occurrences);
}  // namespace sampling

void repetition_penalty_reference(const RepetitionPenalty::Arguments& arguments, Context& context);
void repetition_penalty_counted(const RepetitionPenalty::Arguments& arguments, Context& context);
extern const Variant<RepetitionPenalty> repetition_penalty_cuda;

}  // namespace ingot
