// Generation: one request under way, from its prompt to its end: tokens, text and why it ended. It computes nothing;
// whoever runs the passes hands it each token that was chosen.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "engine/held_text.h"
#include "engine/text_request.h"
#include "engine/token_probability.h"
#include "model/tokenizer/detokenizer.h"

namespace ingot {

enum class GenerationEnd : std::uint8_t {
  none,         // it goes on
  model,        // the model said so
  stop,         // a stop string or stop token came
  token_limit,  // as many tokens as were asked for
  deadline,     // no time is left
  cancelled,    // nobody wants it any more
  failed,       // it could not be computed
};

std::string_view name_of(GenerationEnd end);

struct GenerationCounts {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;  // of the prompt: computed by others before
  std::int64_t generated = 0;
};

// Seconds: until it was admitted, from there until the first token, and from there until the end. What it did not come
// to is 0.
struct GenerationTimes {
  double waiting = 0;
  double prompt = 0;
  double generation = 0;
};

struct ChosenToken {
  std::int32_t token = 0;
  // Whole UTF-8, may be empty: a character can take several tokens, and what might become a stop string waits.
  std::string_view text = {};
  float log_probability = 0;                           // where it was asked for (engine/token_probability.h)
  std::span<const TokenProbability> most_likely = {};  // where they were asked for, most likely first
  std::size_t offset = 0;  // characters that were generated before it, those that still wait included
  // So far, this token included.
  GenerationCounts counts = {};
  GenerationTimes times = {};
};

struct PromptProgress {
  std::int64_t processed = 0;  // of the prompt: what others had computed included
  GenerationCounts counts = {};
  GenerationTimes times = {};
};

struct GenerationEnding {
  GenerationEnd end = GenerationEnd::none;
  std::string_view text = {};  // what waited to become a stop string, or a character, and did not
  GenerationCounts counts = {};
  GenerationTimes times = {};
  std::string_view stop = {};  // the stop string that came
  // The token that ended it, where one did and probabilities were asked for. It is no part of the text, nor counted.
  std::optional<ChosenToken> last = {};
  const Error* error = nullptr;  // why, where it failed
};

// Told what comes of a request, on the thread that runs the passes. What it is given is good during the call.
class GenerationListener {
 public:
  virtual ~GenerationListener() = default;
  // Once, before any token, where the prompt's probabilities are wanted: one for each of its tokens, without text. The
  // first has no probability (NaN), since nothing comes before it.
  virtual void on_prompt(std::span<const ChosenToken> /*prompt*/) {}
  // Where it is wanted: what others had computed, and behind each pass more, up to all of the prompt. Before the first
  // token.
  virtual void on_progress(const PromptProgress& /*progress*/) {}
  virtual void on_token(const ChosenToken& chosen) = 0;
  // Once, and nothing after it.
  virtual void on_end(const GenerationEnding& ending) = 0;
};

// A request, and who is told of each of its choices.
struct TextChoices {
  TextRequest request;
  std::vector<std::shared_ptr<GenerationListener>> listeners;
};

class Generation {
 public:
  // One choice, by its place among those of the request. Fails where the sampling is out of its range, or nobody
  // listens. Table and tokenizer must outlive it.
  // `forces_tokens`: where a grammar leaves no choice, nobody has one (engine/held_text.h).
  static Result<Generation> create(std::shared_ptr<const PreparedRequest> request, std::size_t choice,
                                   std::shared_ptr<GenerationListener> listener, const KernelTable& table,
                                   const Tokenizer& tokenizer, bool forces_tokens = true);

  const TextRequest& request() const { return request_->asked(); }
  Sampler& sampler() { return sampler_; }
  // What holds its text; null where it is free.
  HeldText* held() { return held_ ? &*held_ : nullptr; }
  // Prompt, and what was generated.
  std::span<const std::int32_t> tokens() const { return tokens_; }
  // What others may have computed as well: all but the last, which is computed in any case for what follows it, and of
  // a prompt whose probabilities are wanted what they are known of.
  std::span<const std::int32_t> computable_beginning() const;
  // On the token that comes after `ahead` others.
  TokenConstraints constraints(std::int64_t ahead = 0) const;
  GenerationCounts& counts() { return counts_; }
  GenerationTimes& times() { return times_; }

  // Whether the prompt's probabilities are still to be computed: each of its outputs says how likely the next token is.
  bool wants_prompt_outputs() const { return request().wants_prompt_probabilities && !prompt_was_told_; }
  // Whether this one is missing. One that was preempted computes some again.
  bool wants_prompt_output(std::int64_t position) const {
    return wants_prompt_outputs() && position + 1 >= std::ssize(prompt_scores_) && position + 1 < counts_.prompt;
  }
  // What was wanted, in the order of tokens.
  void take_prompt_score(TokenScore score) { prompt_scores_.push_back(std::move(score)); }
  // So many of its tokens are computed. Tells the listener of more than before, where that is wanted.
  void take_progress(std::int64_t computed);
  // The prompt is through. Tells the listener, and returns whether that was all.
  GenerationEnd take_prompt();
  // Whether choosing this token ends it: then nobody is told of it but by the end.
  bool is_end(std::int32_t token) const { return end_by(token) != GenerationEnd::none; }
  // The next token was chosen. Tells the listener, and returns whether that was the last. `is_whole`: nothing but the
  // end may follow. What holds the text may have been told of more tokens already.
  GenerationEnd take(std::int32_t token, const TokenScore& score = {}, bool is_whole = false);
  // Tells the listener. `error`: why, where it failed.
  void end(GenerationEnd end, const Error* error = nullptr);

 private:
  Generation(std::shared_ptr<const PreparedRequest> request, std::shared_ptr<GenerationListener> listener,
             Sampler sampler, const Tokenizer& tokenizer, bool forces_tokens);
  GenerationEnd end_by(std::int32_t token) const;

  std::shared_ptr<const PreparedRequest> request_;
  std::shared_ptr<GenerationListener> listener_;
  Sampler sampler_;
  std::optional<HeldText> held_;
  Detokenizer detokenizer_;
  StopText text_;
  std::vector<std::int32_t> tokens_;
  std::vector<TokenScore> prompt_scores_;  // as far as they are known
  std::optional<std::int32_t> last_;       // the token that ended it
  TokenScore last_score_;
  std::size_t characters_ = 0;  // that were generated, those that still wait included
  bool prompt_was_told_ = false;
  std::int64_t told_progress_ = -1;  // tokens
  GenerationCounts counts_;
  GenerationTimes times_;
};

}  // namespace ingot
