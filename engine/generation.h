// Generation: one request under way, from its prompt to its end: tokens, text and why it ended. It computes nothing;
// whoever runs the passes hands it each token that was chosen.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "engine/sampler.h"
#include "engine/stop_text.h"
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

// Told what comes of a request, on the thread that runs the passes.
class GenerationListener {
 public:
  virtual ~GenerationListener() = default;
  // The text is whole UTF-8 and may be empty: a character can take several tokens.
  virtual void on_token(std::int32_t token, std::string_view text) = 0;
  // Once, and nothing after it. `text` is what waited to become a stop string, or a character, and did not; `reason`
  // says more where it failed.
  virtual void on_end(GenerationEnd end, std::string_view text, const GenerationCounts& counts,
                      std::string_view reason) = 0;
};

struct TextRequest {
  std::vector<std::int32_t> prompt;
  std::int64_t most_tokens = 0;
  std::int64_t least_tokens = 0;  // before them neither the model nor a stop token ends it: none of these is chosen
  bool ignores_end = false;       // the model never ends it
  SamplerOptions sampling = {};
  std::vector<std::string> stops = {};
  std::vector<std::int32_t> stop_tokens = {};
  std::int64_t asker = 0;  // whose turn it is (engine/scheduler.h)
  std::uint64_t salt = 0;  // with whom it shares what is computed (engine/prefix_index.h)
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::shared_ptr<GenerationListener> listener = {};
};

class Generation {
 public:
  // Fails where a field is out of its range, or nobody listens. Table and tokenizer must outlive it.
  // `vocabulary`: how many tokens the model knows.
  static Result<Generation> create(TextRequest request, const KernelTable& table, const Tokenizer& tokenizer,
                                   std::int64_t vocabulary);

  const TextRequest& request() const { return request_; }
  Sampler& sampler() { return sampler_; }
  // Prompt, and what was generated.
  std::span<const std::int32_t> tokens() const { return tokens_; }
  // All but the last: that one is computed in any case, for what follows it.
  std::span<const std::int32_t> computable_beginning() const { return tokens().first(tokens_.size() - 1); }
  // What must not be the next token.
  std::span<const std::int32_t> forbidden() const;
  GenerationCounts& counts() { return counts_; }

  // The next token was chosen. Tells the listener, and its end where this is it.
  GenerationEnd take(std::int32_t token);
  // Ends it for another reason.
  void end(GenerationEnd end, std::string_view reason = {});

 private:
  Generation(TextRequest request, Sampler sampler, const Tokenizer& tokenizer, std::int64_t vocabulary,
             bool is_text_begin);

  TextRequest request_;
  Sampler sampler_;
  Detokenizer detokenizer_;
  StopText text_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::int32_t> ends_and_stops_;  // the model's first
  GenerationCounts counts_;
};

}  // namespace ingot
