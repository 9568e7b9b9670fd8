// What the model thinks of a token: the natural logarithm of its probability, in the model's own distribution. That is
// softmax of the raw logits, before biases, penalties, temperature and filters: what a model says does not depend on
// how one draws from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/contract/context.h"
#include "kernels/contract/table.h"

namespace ingot {

struct TokenProbability {
  std::int32_t token = 0;
  float log_probability = 0;

  bool operator==(const TokenProbability&) const = default;
};

// Of one token, and beside it the most likely ones in their order; of equal ones the lower number comes first.
struct TokenScore {
  float log_probability = std::numeric_limits<float>::quiet_NaN();
  std::vector<TokenProbability> most_likely = {};
};

// Fails where the logits have no distribution: one is not a number, or infinite (other than minus infinity, which is a
// token that cannot come). `token` is one of the row's; of `most_likely` there are no more than tokens.
Result<TokenScore> score_token(const KernelTable& table, std::span<const float> logits, std::int32_t token,
                               std::int64_t most_likely, Context& context);

}  // namespace ingot
