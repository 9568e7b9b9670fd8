#include "engine/generator.h"

#include <algorithm>
#include <limits>

namespace ingot {

// Where the next token comes from: a pass over what it follows, and a choice.
class TokenSource {
 public:
  TokenSource(Session& session, Sampler& sampler, int sequence)
      : session_(session), sampler_(sampler), sequence_(sequence) {}
  virtual ~TokenSource() = default;

  // What follows `tokens`: the prompt, and from then on the token before. `more`: whether another one will be wanted.
  virtual Result<std::int32_t> next(std::span<const std::int32_t> tokens, bool more) = 0;
  // Tokens that the sequence holds and that were told, and those that it will hold before the next is chosen.
  virtual std::int64_t length() const { return session_.sequences().length(sequence_); }
  // That the last token was chosen by, until the next pass; none where it was not, or not here.
  std::span<const float> logits() const { return logits_; }
  // The sequence holds what was told, and no room for more.
  virtual Result<void> finish() { return session_.sequences().truncate(sequence_, length()); }

 protected:
  std::span<const float> take(const View<const float>& row) {
    return logits_ = {row.data(), static_cast<std::size_t>(row.size(1))};
  }

  Session& session_;
  Sampler& sampler_;
  int sequence_;
  std::span<const float> logits_;
};

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Room for what is likely to come, before it comes: then no token waits for the operating system to find memory. Where
// there are too few pages, each pass takes what it needs. Not in a ring, where room is made by forgetting.
void reserve_ahead(Session& session, int sequence, std::int64_t tokens) {
  SequenceMemory& memory = session.sequences();
  if (memory.rings().has_layers()) return;
  static_cast<void>(memory.reserve(sequence, std::min(tokens, session.context() - memory.length(sequence))));
}

class TokensOfLogits final : public TokenSource {
 public:
  using TokenSource::TokenSource;
  Result<std::int32_t> next(std::span<const std::int32_t> tokens, bool) override {
    take(TRY(session_.forward({sequence_, tokens, Wanted::last})));
    Context context = session_.context_for_kernels();  // a pass may have replaced its scratch
    return sampler_.choose(logits_, context);
  }
};

// Of those that a constraint allows. Which these are is found out while the pass runs.
class HeldTokens final : public TokenSource {
 public:
  HeldTokens(Session& session, Sampler& sampler, int sequence, HeldText& text)
      : TokenSource(session, sampler, sequence), text_(text) {}

  Result<std::int32_t> next(std::span<const std::int32_t> tokens, bool) override {
    waiting_.insert(waiting_.end(), tokens.begin(), tokens.end());
    // The prompt's pass comes first all the same: how long it took is told.
    logits_ = {};
    if (!is_first_) {
      if (const std::optional<std::int32_t> forced = text_.next_forced(sampler_)) return *forced;
    }
    is_first_ = false;
    text_.begin_mask(masks_);
    take(TRY(session_.forward({sequence_, waiting_, Wanted::last})));
    waiting_.clear();
    Context context = session_.context_for_kernels();
    return text_.choose(sampler_, logits_, context);
  }
  std::int64_t length() const override { return TokenSource::length() + std::ssize(waiting_); }
  Result<void> finish() override { return session_.sequences().truncate(sequence_, TokenSource::length()); }

 private:
  HeldText& text_;
  std::vector<std::int32_t> waiting_;  // for a pass: what is forced is computed with what follows it
  bool is_first_ = true;
  MaskThread masks_;
};

// Chosen on a device, which begins with the next pass before the host knows the token, if it can. The last one may be
// for nothing: it is taken back.
class TokensOfDevice final : public TokenSource {
 public:
  using TokenSource::TokenSource;
  ~TokensOfDevice() override { static_cast<void>(forget_passes()); }  // also where something failed on the way

  Result<std::int32_t> next(std::span<const std::int32_t> tokens, bool more) override {
    if (session_.passes_under_way() == 0) TRY(begin({.sequence = sequence_, .tokens = tokens}));
    const bool has_room = session_.sequences().length(sequence_) < session_.context();
    if (more && has_room && session_.goes_ahead()) TRY(begin({.sequence = sequence_, .goes_on = true}));
    return sampler_.accept(TRY(session_.chosen())[0]);
  }
  std::int64_t length() const override { return TokenSource::length() - session_.passes_under_way(); }
  Result<void> finish() override {
    const std::int64_t told = length();
    TRY(forget_passes());
    return session_.sequences().truncate(sequence_, told);
  }

 private:
  Result<void> forget_passes() {
    while (session_.passes_under_way() > 0) TRY(session_.chosen());
    return {};
  }
  Result<void> begin(ChosenRun run) {
    run.choice = sampler_.next_choice();
    return session_.begin_choosing(std::span(&run, 1));
  }
};

std::unique_ptr<TokenSource> source_of(Session& session, Sampler& sampler, int sequence, std::optional<HeldText>& held,
                                       bool shows_logits) {
  if (held) return std::make_unique<HeldTokens>(session, sampler, sequence, *held);
  if (session.chooses_tokens() && sampler.needs_logits_alone() && !shows_logits) {
    return std::make_unique<TokensOfDevice>(session, sampler, sequence);
  }
  return std::make_unique<TokensOfLogits>(session, sampler, sequence);
}

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_generation: return "end of generation";
    case StopReason::token_limit: return "token limit";
    case StopReason::context_full: return "context full";
    case StopReason::caller: return "stopped by the caller";
  }
  return "unknown";
}

Generator::Generator(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence, Request request)
    : session_(session), tokenizer_(tokenizer), sequence_(sequence), request_(std::move(request)) {
  start_ = Clock::now();
  unread_ = request_.prompt;
  report_.prompt_tokens = std::ssize(unread_);
  // After special tokens alone, the text begins here; what a grammar has is told to the last space.
  const bool is_text_begin = request_.constraint == nullptr && session.sequences().length(sequence) == 0 &&
                             std::ranges::all_of(unread_, [&](TokenId token) { return tokenizer.is_special(token); });
  detokenizer_.emplace(tokenizer, DecodeOptions{.is_text_begin = is_text_begin});
  sampler.remember(unread_);
  constexpr std::int64_t ahead = 256;
  reserve_ahead(session, sequence, report_.prompt_tokens + ahead);
  if (request_.constraint != nullptr) held_.emplace(request_.constraint);
  source_ = source_of(session, sampler, sequence, held_, bool{request_.on_choice});
}

Generator::~Generator() = default;

Result<std::optional<std::string>> Generator::next() {
  if (is_finished_) return std::optional<std::string>();
  Result<std::optional<std::string>> piece = take_next();
  if (!piece.ok()) is_finished_ = true;
  return piece;
}

Result<std::optional<std::string>> Generator::take_next() {
  if (end_) return finish(*end_);
  TRY(require_predictions(session_.model()));
  const bool reads_in_passes = request_.prompt_steps == PromptSteps::passes;
  if (reads_in_passes && std::ssize(unread_) > session_.options().chunk) {
    TRY(read_beginning());
    return std::optional<std::string>("");
  }
  const auto told = std::ssize(report_.tokens);
  const std::int32_t last = told > 0 ? report_.tokens.back() : 0;
  const std::span<const std::int32_t> follows = told > 0 ? std::span(&last, 1) : unread_;
  const std::int32_t token = TRY(source_->next(follows, told + 1 < request_.most_tokens));
  if (told == 0) {
    report_.prefill_seconds = seconds_since(start_);
    start_ = Clock::now();
  }
  if (tokenizer_.is_end_of_generation(token)) return finish(StopReason::end_of_generation);
  if (request_.on_choice) TRY(request_.on_choice(token, source_->logits()));
  return std::optional<std::string>(take(token));
}

// By the passes in which a session reads it anyway.
Result<void> Generator::read_beginning() {
  const auto count = static_cast<std::size_t>(session_.options().chunk);
  TRY(session_.forward({sequence_, unread_.first(count), Wanted::none}));
  unread_ = unread_.subspan(count);
  return {};
}

std::string Generator::take(std::int32_t token) {
  report_.tokens.push_back(token);
  std::string text = detokenizer_->push(token, std::ranges::binary_search(request_.shown_tokens, token));
  report_.text += text;
  if (held_ && held_->must_end()) {
    end_ = StopReason::end_of_generation;
  } else if (std::ssize(report_.tokens) >= request_.most_tokens) {
    end_ = StopReason::token_limit;
  } else if (source_->length() >= session_.context()) {
    end_ = StopReason::context_full;
  }
  return text;
}

Result<std::optional<std::string>> Generator::finish(StopReason reason) {
  is_finished_ = true;
  report_.reason = reason;
  report_.decode_seconds = report_.tokens.empty() ? 0 : seconds_since(start_);
  report_.is_complete = !held_ || held_->can_end();
  TRY(source_->finish());
  std::string rest = detokenizer_->finish();
  report_.text += rest;
  return std::optional<std::string>(std::move(rest));
}

Result<GenerationReport> generate(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                  std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                  const TextCallback& on_text, std::shared_ptr<const grammar::Constraint> constraint,
                                  std::span<const TokenId> shown_tokens, ChoiceCallback on_choice) {
  Generator generator(session, tokenizer, sampler, sequence,
                      {.prompt = {prompt.begin(), prompt.end()},
                       .most_tokens = most_tokens,
                       .constraint = std::move(constraint),
                       .shown_tokens = {shown_tokens.begin(), shown_tokens.end()},
                       .on_choice = std::move(on_choice)});
  while (const std::optional<std::string> piece = TRY(generator.next())) {
    if (!on_text(*piece)) generator.stop();
  }
  return generator.report();
}

}  // namespace ingot
