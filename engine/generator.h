// Generator: a prompt goes in, tokens come out one by one until the model, a limit or the caller ends it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/held_text.h"
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
  bool is_complete = true;     // where it was held to a shape: the text has it
  double prefill_seconds = 0;  // until the first token was chosen
  double decode_seconds = 0;   // from then on
};

class TokenSource;

// Called with each token that was generated and the logits that it was chosen by; none where a grammar left no choice.
using ChoiceCallback = std::function<Result<void>(std::int32_t token, std::span<const float> logits)>;

// Continues a sequence a token at a time, for whoever has something else to do between two of them. generate() below
// says what becomes of the sequence.
class Generator {
 public:
  // What a long prompt is read by.
  enum class PromptSteps : std::uint8_t {
    one,     // all of it before the first token
    passes,  // next() returns after each pass, with no text
  };
  struct Request {
    std::vector<std::int32_t> prompt;
    std::int64_t most_tokens = 0;
    std::shared_ptr<const grammar::Constraint> constraint = nullptr;
    std::vector<TokenId> shown_tokens = {};  // in order
    PromptSteps prompt_steps = PromptSteps::one;
    ChoiceCallback on_choice = {};
  };

  // All of them must outlive this.
  Generator(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence, Request request);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // What one more token adds to the text, which may be nothing. Nothing at all once it has ended, or failed.
  Result<std::optional<std::string>> next();
  // The caller has enough: the next piece is the last, and what is left of a character.
  void stop() { end_ = StopReason::caller; }
  // So far.
  const GenerationReport& report() const { return report_; }

 private:
  using Clock = std::chrono::steady_clock;
  Result<std::optional<std::string>> take_next();
  Result<void> read_beginning();
  std::string take(std::int32_t token);
  Result<std::optional<std::string>> finish(StopReason reason);

  Session& session_;
  const Tokenizer& tokenizer_;
  int sequence_;
  Request request_;
  std::span<const std::int32_t> unread_;  // of the prompt
  GenerationReport report_;
  std::optional<Detokenizer> detokenizer_;
  std::optional<HeldText> held_;
  std::unique_ptr<TokenSource> source_;
  Clock::time_point start_;        // of what is timed: the prompt, and from the first token on the rest
  std::optional<StopReason> end_;  // why no further token is wanted
  bool is_finished_ = false;
};

// Called with each new piece of text, which is whole UTF-8 and may be empty. False ends the generation.
using TextCallback = std::function<bool(std::string_view)>;

// Continues `sequence` by the prompt and up to `most_tokens` tokens. What was generated stays in the sequence, but for
// the last token, which no pass has seen yet, nor those that a grammar forced right before it; the next prompt may
// begin with them. A constraint holds what is generated to a shape, and ends the generation where the shape does.
// Special tokens are no text, but for those that are shown: in the order of their ids.
Result<GenerationReport> generate(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                  std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                  const TextCallback& on_text,
                                  std::shared_ptr<const grammar::Constraint> constraint = nullptr,
                                  std::span<const TokenId> shown_tokens = {}, ChoiceCallback on_choice = {});

}  // namespace ingot
