#include "engine/generation.h"

#include <algorithm>

#include "base/utf8.h"

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

Result<Generation> Generation::create(std::shared_ptr<const PreparedRequest> request, std::size_t choice,
                                      std::shared_ptr<GenerationListener> listener, const KernelTable& table,
                                      const Tokenizer& tokenizer, bool forces_tokens) {
  if (listener == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected somebody to tell the tokens to, found nobody");
  }
  SamplerOptions sampling = request->asked().sampling;
  sampling.seed += choice;
  Sampler sampler = TRY(Sampler::create(table, sampling));
  sampler.remember(request->asked().prompt);
  return Generation(std::move(request), std::move(listener), std::move(sampler), tokenizer, forces_tokens);
}

Generation::Generation(std::shared_ptr<const PreparedRequest> request, std::shared_ptr<GenerationListener> listener,
                       Sampler sampler, const Tokenizer& tokenizer, bool forces_tokens)
    : request_(std::move(request)),
      listener_(std::move(listener)),
      sampler_(std::move(sampler)),
      // What a grammar has is told to the last space.
      detokenizer_(tokenizer, {.is_text_begin = request_->is_text_begin() && request_->asked().constraint == nullptr}),
      text_(std::shared_ptr<const StopStrings>(request_, &request_->stops())),
      tokens_(request_->asked().prompt),
      prompt_scores_(1),  // nothing is known of the first
      counts_{.prompt = std::ssize(request_->asked().prompt)} {
  if (request_->asked().constraint == nullptr) return;
  // What whoever asks says of a token holds, however the tokenizer would write a text.
  const std::span<const std::int32_t> ends = request_->all_ends();
  Forcing forcing{.is_on = forces_tokens, .chosen = {ends.begin(), ends.end()}};
  for (const TokenBias& bias : request_->asked().biases) forcing.chosen.push_back(bias.token);
  held_.emplace(request_->asked().constraint, std::move(forcing));
}

std::span<const std::int32_t> Generation::computable_beginning() const {
  return tokens().first((wants_prompt_outputs() ? prompt_scores_.size() : tokens_.size()) - 1);
}

TokenConstraints Generation::constraints(std::int64_t ahead) const {
  std::span<const std::int32_t> forbidden;
  if (request().ignores_end) forbidden = request_->ends();
  if (counts_.generated + ahead < request().least_tokens) forbidden = request_->all_ends();
  return {forbidden, request().biases};
}

void Generation::take_progress(std::int64_t computed) {
  const std::int64_t processed = std::min(computed, counts_.prompt);
  if (!request().wants_progress || counts_.generated > 0 || processed <= told_progress_) return;
  told_progress_ = processed;
  listener_->on_progress({processed, counts_, times_});
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
    listener_->on_prompt(prompt);
    prompt_scores_.clear();
  }
  return request().most_tokens == 0 ? GenerationEnd::token_limit : GenerationEnd::none;
}

GenerationEnd Generation::end_by(std::int32_t token) const {
  if (std::ranges::binary_search(request_->ends(), token)) return GenerationEnd::model;
  return std::ranges::binary_search(request_->stop_tokens(), token) ? GenerationEnd::stop : GenerationEnd::none;
}

GenerationEnd Generation::take(std::int32_t token, const TokenScore& score, bool is_whole) {
  if (const GenerationEnd end = end_by(token); end != GenerationEnd::none) {
    if (request().most_likely) {
      last_ = token;
      last_score_ = score;
    }
    return end;
  }
  tokens_.push_back(token);
  ++counts_.generated;
  const bool is_shown = std::ranges::binary_search(request().shown_tokens, token);
  const std::string spelled = detokenizer_.push(token, is_shown);
  const std::string text = text_.push(spelled);
  listener_->on_token({token, text, score.log_probability, score.most_likely, characters_, counts_, times_});
  characters_ += count_characters(spelled);
  if (text_.is_stopped()) return GenerationEnd::stop;
  if (is_whole) return GenerationEnd::model;
  return counts_.generated >= request().most_tokens ? GenerationEnd::token_limit : GenerationEnd::none;
}

void Generation::end(GenerationEnd end, const Error* error) {
  const std::string spelled = detokenizer_.finish();
  std::string rest = text_.push(spelled);
  rest += text_.finish();
  characters_ += count_characters(spelled);
  GenerationEnding ending = {
      .end = end, .text = rest, .counts = counts_, .times = times_, .stop = text_.stop(), .error = error};
  if (last_) {
    ending.last = {.token = *last_,
                   .log_probability = last_score_.log_probability,
                   .most_likely = last_score_.most_likely,
                   .offset = characters_};
  }
  listener_->on_end(ending);
}

}  // namespace ingot
