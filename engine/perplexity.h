// Perplexity: how surprised a model is by a text, exp of the mean negative log likelihood of its tokens.
#pragma once

#include <functional>

#include "engine/session.h"

namespace ingot {

struct Perplexity {
  double value = 0;           // exp(mean_loss)
  double mean_loss = 0;       // in nats a token
  double standard_error = 0;  // of mean_loss
  std::int64_t scored = 0;    // tokens that were predicted: all but the first
  std::int64_t windows = 0;
};

// A text longer than the session's context goes through in windows of that length, each `stride` tokens after the one
// before it. Every token is scored once, in the first window that holds it, so that it sees at least context - stride
// tokens before it. A stride of 0 is half the context. `progress` hears how many tokens are scored, of how many.
Result<Perplexity> perplexity_of(Session& session, std::span<const std::int32_t> tokens, std::int64_t stride,
                                 const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace ingot
