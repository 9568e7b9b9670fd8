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

Result<Generation> Generation::create(TextRequest request, const KernelTable& table, const Tokenizer& tokenizer) {
  if (request.prompt.empty() || request.most_tokens < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt and at least one token to generate, found ",
                     request.prompt.size(), " tokens and ", request.most_tokens);
  }
  Sampler sampler = TRY(Sampler::create(table, request.sampling));
  sampler.remember(request.prompt);
  // After special tokens alone, the text begins here.
  const bool is_text_begin =
      std::ranges::all_of(request.prompt, [&](TokenId token) { return tokenizer.is_special(token); });
  return Generation(std::move(request), std::move(sampler), tokenizer, is_text_begin);
}

Generation::Generation(TextRequest request, Sampler sampler, const Tokenizer& tokenizer, bool is_text_begin)
    : request_(std::move(request)),
      tokenizer_(&tokenizer),
      sampler_(std::move(sampler)),
      detokenizer_(tokenizer, {.is_text_begin = is_text_begin}),
      text_(request_.stops),
      tokens_(request_.prompt),
      counts_{.prompt = static_cast<std::int64_t>(request_.prompt.size())} {}

GenerationEnd Generation::take(std::int32_t token) {
  const bool may_end = counts_.generated >= request_.least_tokens;
  const bool is_end = tokenizer_->is_end_of_generation(token) && !request_.ignores_end;
  const bool is_stop = std::ranges::count(request_.stop_tokens, token) > 0;
  if (may_end && (is_end || is_stop)) {
    end(is_end ? GenerationEnd::model : GenerationEnd::stop);
    return is_end ? GenerationEnd::model : GenerationEnd::stop;
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
