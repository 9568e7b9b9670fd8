// Counts the history once, then touches only the tokens in it: the rest of the row is a copy, or nothing in place.
#include <algorithm>

#include "kernels/sampling/repetition_penalty.h"
#include "tensor/rows.h"

namespace ingot {

void repetition_penalty_counted(const RepetitionPenalty::Arguments& arguments, Context& context) {
  const Rows logits(arguments.logits);
  const Rows history(arguments.history);
  const Rows y(arguments.y);
  const std::int64_t tokens = logits.length();
  auto* counters = reinterpret_cast<std::int32_t*>(context.scratch.data());
  context.workers.for_chunks(
      logits.count(), rows_per_chunk(8 * tokens), [&](std::int64_t begin, std::int64_t end, int worker) {
        std::int32_t* occurrences = counters + worker * tokens;
        std::fill(occurrences, occurrences + tokens, 0);
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int32_t* produced = history[row];
          if (y[row] != logits[row]) std::copy(logits[row], logits[row] + tokens, y[row]);
          for (std::int64_t j = 0; j < history.length(); ++j) {
            if (produced[j] >= 0) ++occurrences[produced[j]];
          }
          for (std::int64_t j = 0; j < history.length(); ++j) {
            if (produced[j] < 0 || occurrences[produced[j]] == 0) continue;  // no token, or done already
            y[row][produced[j]] = sampling::penalised(arguments, y[row][produced[j]], occurrences[produced[j]]);
            occurrences[produced[j]] = 0;
          }
        }
      });
}

}  // namespace ingot
