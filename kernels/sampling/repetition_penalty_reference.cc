// Scalar truth: every token looks through the history for itself.
#include <algorithm>

#include "kernels/sampling/repetition_penalty.h"
#include "tensor/rows.h"

namespace ingot {

float sampling::penalised(const RepetitionPenalty::Arguments& arguments, float logit, std::int64_t occurrences) {
  const double value = logit;
  const double scaled = value > 0 ? value / arguments.repetition : value * arguments.repetition;
  return static_cast<float>(scaled -
                            (arguments.presence + double{arguments.frequency} * static_cast<double>(occurrences)));
}

void repetition_penalty_reference(const RepetitionPenalty::Arguments& arguments, Context&) {
  const Rows logits(arguments.logits);
  const Rows history(arguments.history);
  const Rows y(arguments.y);
  for (std::int64_t row = 0; row < logits.count(); ++row) {
    for (std::int64_t i = 0; i < logits.length(); ++i) {
      const auto occurrences = std::count(history[row], history[row] + history.length(), i);
      y[row][i] = occurrences == 0 ? logits[row][i] : sampling::penalised(arguments, logits[row][i], occurrences);
    }
  }
}

}  // namespace ingot
