// What `ingot run` shows of a generation: its text up to a stop string, and what the model thought of its tokens.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/generator.h"
#include "engine/stop_text.h"
#include "engine/token_probability.h"

namespace ingot {

class GeneratedText {
 public:
  GeneratedText(Session& session, const Tokenizer& tokenizer, const std::vector<std::string>& stops);

  // What is to be shown of a piece that came. What could be the beginning of a stop string waits.
  std::string push(std::string_view piece);
  bool is_stopped() const { return stop_.is_stopped(); }
  // What waited, once no more comes.
  std::string finish();

  // All that was shown.
  const std::string& text() const { return text_; }
  // Of a token that was chosen by these logits, with the `most_likely` beside it; none: a shape left no choice.
  Result<void> score(std::int32_t token, std::span<const float> logits, std::int64_t most_likely);
  // Why it ended, in words.
  std::string_view reason(const GenerationReport& report) const;
  // Adds what was asked for: "stop_string", "logprobs".
  void describe(nlohmann::json& document) const;

 private:
  struct ScoredToken {
    std::int32_t token = 0;
    std::optional<TokenScore> score;
  };

  Session& session_;
  const Tokenizer& tokenizer_;
  StopText stop_;
  std::string text_;
  bool is_scored_ = false;
  std::vector<ScoredToken> scores_;
};

}  // namespace ingot
