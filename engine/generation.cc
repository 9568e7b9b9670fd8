#include "engine/generation.h"

#include <algorithm>

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

Result<Generation> Generation::create(TextRequest request, const KernelTable& table, const Tokenizer& tokenizer,
                                      std::int64_t vocabulary) {
  if (request.prompt.empty() || request.most_tokens < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt and at least one token to generate, found ",
                     request.prompt.size(), " tokens and ", request.most_tokens);
  }
  if (request.listener == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected somebody to tell the tokens to, found nobody");
  }
  for (const std::vector<std::int32_t>* tokens : {&request.prompt, &request.stop_tokens}) {
    for (const std::int32_t token : *tokens) {
      if (token >= 0 && token < vocabulary) continue;
      return Error::of(ErrorCode::invalid_argument, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
    }
  }
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
      counts_{.prompt = static_cast<std::int64_t>(request_.prompt.size())} {
  std::erase_if(ends_and_stops_, [&](std::int32_t token) { return token >= vocabulary; });
  ends_and_stops_.insert(ends_and_stops_.end(), request_.stop_tokens.begin(), request_.stop_tokens.end());
}

std::span<const std::int32_t> Generation::forbidden() const {
  if (counts_.generated < request_.least_tokens) return ends_and_stops_;
  const std::size_t ends = ends_and_stops_.size() - request_.stop_tokens.size();
  return std::span(ends_and_stops_).first(request_.ignores_end ? ends : 0);
}

GenerationEnd Generation::take(std::int32_t token) {
  if (const auto found = std::ranges::find(ends_and_stops_, token); found != ends_and_stops_.end()) {
    const bool is_stop = ends_and_stops_.end() - found <= std::ssize(request_.stop_tokens);
    const GenerationEnd reached = is_stop ? GenerationEnd::stop : GenerationEnd::model;
    end(reached);
    return reached;
  }
  tokens_.push_back(token);
  ++counts_.generated;
  request_.listener->on_token(token, text_.push(detokenizer_.push(token)));
  GenerationEnd reached = GenerationEnd::none;
  if (text_.is_stopped()) {
    reached = GenerationEnd::stop;
  } else if (counts_.generated >= request_.most_tokens) {
    reached = GenerationEnd::token_limit;
  }
  if (reached != GenerationEnd::none) end(reached);
  return reached;
}

void Generation::end(GenerationEnd end, std::string_view reason) {
  std::string rest = text_.push(detokenizer_.finish());
  rest += text_.finish();
  request_.listener->on_end(end, rest, counts_, reason);
}

}  // namespace ingot
