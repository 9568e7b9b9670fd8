// A prompt on its way to a model: what the user should be told about it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.h"
#include "engine/session.h"

namespace ingot {

// The text as it can be shown, and as the model will see it: U+FFFD for bytes that are no UTF-8, with a warning that
// names what the text is ("the prompt").
std::string readable(std::string_view what, std::string_view bytes);

// A warning where the vocabulary has no token for some bytes of the text.
Result<void> warn_of_left_out(const Tokenizer& tokenizer, std::string_view what, std::string_view text,
                              EncodeOptions options);

// The tokens of the text, with that warning.
Result<std::vector<TokenId>> encode_with_warning(const Tokenizer& tokenizer, std::string_view what,
                                                 std::string_view text, EncodeOptions options);

// A bar for prompts that take longer than a second, on a terminal; erased when this ends or is told to.
class PromptProgress {
 public:
  explicit PromptProgress(Session& session);
  ~PromptProgress() { session_.follow({}); }
  PromptProgress(const PromptProgress&) = delete;
  PromptProgress& operator=(const PromptProgress&) = delete;

  void erase() { bar_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::int64_t done, std::int64_t tokens);

  Session& session_;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);  // when to draw
  std::unique_ptr<ProgressBar> bar_;
};

}  // namespace ingot
