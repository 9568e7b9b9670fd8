#include "engine/generation.h"

#include <algorithm>
#include <cmath>

namespace ingot {

std::string_view name_of(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::none: return "none";
    case GenerationEnd::model: return "the model's end";
    case GenerationEnd::stop: return "a stop";
    case GenerationEnd::token_limit: return "the limit of tokens";
    case GenerationEnd::deadline: return "the deadline";
    case GenerationEnd::cancelled: return "cancelled";
    case GenerationEnd::failed: return "failed";
  }
  return "unknown";
}

namespace {

Result<void> check_tokens(const TextRequest& request, std::int64_t vocabulary) {
  const auto require = [&](std::int32_t token) -> Result<void> {
    if (token >= 0 && token < vocabulary) return {};
    return Error::of(ErrorCode::invalid_argument, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
  };
  for (const std::int32_t token : request.prompt) TRY(require(token));
  for (const std::int32_t token : request.stop_tokens) TRY(require(token));
  for (const TokenBias& bias : request.biases) {
    TRY(require(bias.token));
    if (std::isfinite(bias.added) || bias.added == -std::numeric_limits<float>::infinity()) continue;
    return Error::of(ErrorCode::invalid_argument, "expected biases that are numbers, or minus infinity, found another ",
                     "for token ", bias.token);
  }
  const std::int64_t most_likely = request.most_likely.value_or(0);
  if (most_likely >= 0 && most_likely <= most_likely_tokens) return {};
  return Error::of(ErrorCode::invalid_argument, "expected 0 to ", most_likely_tokens,
                   " of the most likely tokens, found ", most_likely);
}

}  // namespace

Result<Generation> Generation::create(TextRequest request, const KernelTable& table, const Tokenizer& tokenizer,
                                      std::int64_t vocabulary) {
  const std::int64_t least = request.wants_prompt_probabilities ? 0 : 1;
  if (request.prompt.empty() || request.most_tokens < least) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt and at least ", least,
                     " tokens to generate, found ", request.prompt.size(), " tokens and ", request.most_tokens);
  }
  if (request.listener == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected somebody to tell the tokens to, found nobody");
  }
  TRY(check_tokens(request, vocabulary));
  Sampler sampler = TRY(Sampler::create(table, request.sampling));
  sampler.remember(request.prompt);
  // After special tokens alone, the text begins here.
  const bool is_text_begin =
      std::ranges::all_of(request.prompt, [&](TokenId token) { return tokenizer.is_special(token); });
  return Generation(std::move(request), std::move(sampler), tokenizer, vocabulary, is_text_begin);
}

Generation::Generation(TextRequest request, Sampler sampler, const Tokenizer& tokenizer, std::int64_t vocabulary,
                       bool is_text_begin)
    : request_(std::move(request)),
      sampler_(std::move(sampler)),
      detokenizer_(tokenizer, {.is_text_begin = is_text_begin}),
      text_(request_.stops),
      tokens_(request_.prompt),
      ends_and_stops_(tokenizer.description().end_of_generation),
      prompt_scores_(1),  // nothing is known of the first
      counts_{.prompt = static_cast<std::int64_t>(request_.prompt.size())} {
  std::erase_if(ends_and_stops_, [&](std::int32_t token) { return token >= vocabulary; });
  ends_and_stops_.insert(ends_and_stops_.end(), request_.stop_tokens.begin(), request_.stop_tokens.end());
}

std::span<const std::int32_t> Generation::computable_beginning() const {
  return tokens().first((wants_prompt_outputs() ? prompt_scores_.size() : tokens_.size()) - 1);
}

TokenConstraints Generation::constraints() const {
  const std::size_t ends = ends_and_stops_.size() - request_.stop_tokens.size();
  std::span<const std::int32_t> forbidden = std::span(ends_and_stops_).first(request_.ignores_end ? ends : 0);
  if (counts_.generated < request_.least_tokens) forbidden = ends_and_stops_;
  return {forbidden, request_.biases};
}

GenerationEnd Generation::take_prompt() {
  if (wants_prompt_outputs()) {
    std::vector<ChosenToken> prompt;
    for (std::size_t i = 0; i < prompt_scores_.size(); ++i) {
      prompt.push_back({.token = tokens_[i],
                        .log_probability = prompt_scores_[i].log_probability,
                        .most_likely = prompt_scores_[i].most_likely});
    }
    prompt_was_told_ = true;
    request_.listener->on_prompt(prompt);
    prompt_scores_.clear();
  }
  return request_.most_tokens == 0 ? GenerationEnd::token_limit : GenerationEnd::none;
}

GenerationEnd Generation::take(std::int32_t token, const TokenScore& score) {
  if (const auto found = std::ranges::find(ends_and_stops_, token); found != ends_and_stops_.end()) {
    const bool is_stop = ends_and_stops_.end() - found <= std::ssize(request_.stop_tokens);
    if (request_.most_likely) {
      last_ = token;
      last_score_ = score;
    }
    return is_stop ? GenerationEnd::stop : GenerationEnd::model;
  }
  tokens_.push_back(token);
  ++counts_.generated;
  const std::string text = text_.push(detokenizer_.push(token));
  request_.listener->on_token({token, text, score.log_probability, score.most_likely, counts_, times_});
  if (text_.is_stopped()) return GenerationEnd::stop;
  return counts_.generated >= request_.most_tokens ? GenerationEnd::token_limit : GenerationEnd::none;
}

void Generation::end(GenerationEnd end, std::string_view reason) {
  std::string rest = text_.push(detokenizer_.finish());
  rest += text_.finish();
  GenerationEnding ending = {
      .end = end, .text = rest, .counts = counts_, .times = times_, .stop = text_.stop(), .reason = reason};
  if (last_) {
    ending.last = {
        .token = *last_, .log_probability = last_score_.log_probability, .most_likely = last_score_.most_likely};
  }
  request_.listener->on_end(ending);
}

}  // namespace ingot
