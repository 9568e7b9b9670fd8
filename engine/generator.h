// Generator: a prompt goes in, tokens come out one by one until the model, a limit or the caller ends it.
#pragma once

#include <functional>

#include "engine/sampler.h"
#include "engine/session.h"
#include "model/tokenizer/detokenizer.h"

namespace ingot {

enum class StopReason : std::uint8_t {
  end_of_generation,  // the model said so
  token_limit,
  context_full,
  caller,  // the callback returned false
};

std::string_view name_of(StopReason reason);

struct GenerationReport {
  std::int64_t prompt_tokens = 0;
  std::vector<std::int32_t> tokens;  // generated; the one that ended it is not among them
  std::string text;
  StopReason reason = StopReason::token_limit;
  double prefill_seconds = 0;  // until the first token was chosen
  double decode_seconds = 0;   // from then on
};

// Called with each new piece of text, which is whole UTF-8 and may be empty. False ends the generation.
using TextCallback = std::function<bool(std::string_view)>;

// Continues `sequence` by the prompt and up to `most_tokens` tokens. What was generated stays in the sequence, but for
// the last token, which no pass has seen yet; the next prompt may begin with it.
Result<GenerationReport> generate(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                  std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                  const TextCallback& on_text);

}  // namespace ingot
