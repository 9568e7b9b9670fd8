#include "server/protocol/text_requests.h"

namespace ingot::protocol {

namespace {

// Of one choice: its tokens, and the likely ones beside each.
std::int64_t probabilities_at_once(const GenerationRequest& request, const TextRequest& text) {
  if (!text.most_likely) return 0;
  const std::int64_t of_prompt = text.wants_prompt_probabilities ? std::ssize(text.prompt) : 0;
  return (of_prompt + (request.is_streamed ? 0 : text.most_tokens)) * (*text.most_likely + 1);
}

ApiError too_many_probabilities(std::int64_t found) {
  return wrong_field("logprobs",
                     "logprobs: expected an answer of at most " + std::to_string(most_probabilities) +
                         " probabilities (choices, times tokens, times one more than top_logprobs or n_probs), found " +
                         std::to_string(found) +
                         ": set max_tokens, ask for fewer choices, or for a stream without an echo");
}

}  // namespace

Outcome<std::vector<TextRequest>> text_requests(const GenerationRequest& request,
                                                std::vector<std::vector<std::int32_t>> prompts, std::int64_t room,
                                                std::uint64_t any_seed) {
  std::vector<TextRequest> texts;
  std::int64_t probabilities = 0;
  for (std::vector<std::int32_t>& prompt : prompts) {
    const std::int64_t tokens = std::ssize(prompt);
    const std::int64_t asked = request.most_tokens.value_or(std::max<std::int64_t>(request.text.least_tokens, 1));
    if (asked > room - tokens) return context_length_exceeded(tokens, asked, room);
    TextRequest& text = texts.emplace_back(request.text);
    text.prompt = std::move(prompt);
    text.most_tokens = request.most_tokens.value_or(room - tokens);
    text.sampling.seed = request.seed.value_or(any_seed);
    probabilities += request.choices * probabilities_at_once(request, text);
  }
  if (probabilities > most_probabilities) return too_many_probabilities(probabilities);
  return texts;
}

}  // namespace ingot::protocol
