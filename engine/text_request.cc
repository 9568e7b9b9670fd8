#include "engine/text_request.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

Result<void> check_tokens(const TextRequest& request, std::int64_t vocabulary) {
  const auto require = [&](std::int32_t token) -> Result<void> {
    if (token >= 0 && token < vocabulary) return {};
    return Error::of(ErrorCode::invalid_argument, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
  };
  for (const std::int32_t token : request.prompt) TRY(require(token));
  for (const std::int32_t token : request.stop_tokens) TRY(require(token));
  for (const TokenBias& bias : request.biases) {
    TRY(require(bias.token));
    if (std::isfinite(bias.added) || bias.added == never) continue;
    return Error::of(ErrorCode::invalid_argument, "expected biases that are numbers, or minus infinity, found another ",
                     "for token ", bias.token);
  }
  return {};
}

Result<void> check_counts(const TextRequest& request) {
  const std::int64_t least = request.wants_prompt_probabilities ? 0 : 1;
  if (request.prompt.empty() || request.most_tokens < least) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt and at least ", least,
                     " tokens to generate, found ", request.prompt.size(), " tokens and ", request.most_tokens);
  }
  if (request.least_tokens > request.most_tokens) {
    return Error::of(ErrorCode::invalid_argument, "expected at the least no more tokens than the ", request.most_tokens,
                     " at the most, found ", request.least_tokens);
  }
  const std::int64_t most_likely = request.most_likely.value_or(0);
  if (most_likely >= 0 && most_likely <= most_likely_tokens) return {};
  return Error::of(ErrorCode::invalid_argument, "expected 0 to ", most_likely_tokens,
                   " of the most likely tokens, found ", most_likely);
}

void put_in_order(std::vector<std::int32_t>& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
}

}  // namespace

Result<std::shared_ptr<const PreparedRequest>> PreparedRequest::create(TextRequest request, const Tokenizer& tokenizer,
                                                                       std::int64_t vocabulary) {
  TRY(check_counts(request));
  TRY(check_tokens(request, vocabulary));
  std::shared_ptr<const PreparedRequest> prepared(new PreparedRequest(std::move(request), tokenizer, vocabulary));
  TRY(prepared->check_choosable(vocabulary));
  return prepared;
}

PreparedRequest::PreparedRequest(TextRequest request, const Tokenizer& tokenizer, std::int64_t vocabulary)
    : asked_(std::move(request)),
      stops_(asked_.stops),
      ends_and_stops_(tokenizer.description().end_of_generation),
      // After special tokens alone, the text begins here.
      is_text_begin_(std::ranges::all_of(asked_.prompt, [&](TokenId token) { return tokenizer.is_special(token); })) {
  std::erase_if(ends_and_stops_, [&](std::int32_t token) { return token >= vocabulary; });
  put_in_order(ends_and_stops_);
  model_ends_ = ends_and_stops_.size();
  std::vector<std::int32_t> stop_tokens = asked_.stop_tokens;
  put_in_order(stop_tokens);
  ends_and_stops_.insert(ends_and_stops_.end(), stop_tokens.begin(), stop_tokens.end());
}

// At its first token, where the most are forbidden.
Result<void> PreparedRequest::check_choosable(std::int64_t vocabulary) const {
  std::vector<std::int32_t> forbidden;
  if (asked_.ignores_end) forbidden.assign(ends().begin(), ends().end());
  if (asked_.least_tokens > 0) forbidden.assign(all_ends().begin(), all_ends().end());
  for (const TokenBias& bias : asked_.biases) {
    if (bias.added == never) forbidden.push_back(bias.token);
  }
  put_in_order(forbidden);
  if (std::ssize(forbidden) < vocabulary) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a token that may be chosen, found all ", vocabulary,
                   " forbidden, by biases or as ends that may not come yet");
}

}  // namespace ingot
