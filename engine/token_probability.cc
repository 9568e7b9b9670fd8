#include "engine/token_probability.h"

#include <algorithm>
#include <cmath>

#include "engine/run_with_scratch.h"
#include "kernels/elementwise/top_k.h"
#include "kernels/loss/cross_entropy.h"

namespace ingot {

Result<TokenScore> score_token(const KernelTable& table, std::span<const float> logits, std::int32_t token,
                               std::int64_t most_likely, Context& context) {
  const auto vocabulary = static_cast<std::int64_t>(logits.size());
  const std::int64_t count = std::clamp<std::int64_t>(most_likely, 1, vocabulary);
  Memory scratch;
  std::vector<float> values(static_cast<std::size_t>(count));
  std::vector<std::int32_t> tokens(values.size());
  const View<const float> row(logits.data(), {1, vocabulary});
  TRY(run_with_scratch<ElementwiseTopK>(table,
                                        {.x = row,
                                         .values = View<float>(values.data(), {1, count}),
                                         .indices = View<std::int32_t>(tokens.data(), {1, count})},
                                        context, scratch));
  // The loss of the likeliest is the smallest, so as a float it is the most exact; the others lie below it by the
  // difference of their logits.
  float loss = 0;
  CrossEntropy::Arguments arguments;
  arguments.logits = row;
  arguments.targets = View<const std::int32_t>(tokens.data(), {1});
  arguments.reduction = Reduction::none;
  arguments.loss = View<float>(&loss, {1});
  TRY(run_with_scratch<CrossEntropy>(table, arguments, context, scratch));
  if (!std::isfinite(values[0]) || !std::isfinite(loss)) {
    return Error::of(ErrorCode::corrupt, "expected logits that are numbers, found one that is not among ", vocabulary);
  }
  const auto log_probability = [&](float logit) {
    return static_cast<float>(double{logit} - double{values[0]} - double{loss});
  };
  TokenScore score{.log_probability = log_probability(logits[static_cast<std::size_t>(token)])};
  for (std::size_t i = 0; i < values.size() && static_cast<std::int64_t>(i) < most_likely; ++i) {
    score.most_likely.push_back({tokens[i], log_probability(values[i])});
  }
  return score;
}

}  // namespace ingot
