// TokenChoice: how an output becomes a token where its logits and one number decide, and nothing that was said before.
#pragma once

#include <cstdint>

namespace ingot {

// The links of the chain (engine/sampler.h), with those that are off as they say.
struct ChoiceRule {
  float temperature = 0;   // 0: the most likely token, and no other link
  std::int64_t top_k = 0;  // 0: off
  float top_p = 1;         // 1: off
  float min_p = 0;         // 0: off
  bool operator==(const ChoiceRule&) const = default;
};

struct TokenChoice {
  ChoiceRule rule;
  float uniform = 0;  // in [0, 1): which of the tokens that are left
};

}  // namespace ingot
