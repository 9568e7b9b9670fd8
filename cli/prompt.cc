#include "cli/prompt.h"

#include "model/tokenizer/text_losses.h"

namespace ingot {

std::string readable(std::string_view what, std::string_view bytes) {
  ReadableText read = readable_text(bytes);
  if (read.replaced > 0) {
    print_warning(std::string(what) + ": expected UTF-8, found " + std::to_string(read.replaced) +
                  " byte(s) that are none: each is read as U+FFFD");
  }
  return std::move(read.text);
}

Result<void> warn_of_left_out(const Tokenizer& tokenizer, std::string_view what, std::string_view text,
                              EncodeOptions options) {
  const std::size_t left_out = TRY(count_left_out(tokenizer, text, options));
  if (left_out > 0) {
    print_warning(std::string(what) + ": expected a token for every byte, found " + std::to_string(left_out) +
                  " byte(s) that this model's vocabulary lacks: they are left out");
  }
  return {};
}

Result<std::vector<TokenId>> encode_with_warning(const Tokenizer& tokenizer, std::string_view what,
                                                 std::string_view text, EncodeOptions options) {
  TRY(warn_of_left_out(tokenizer, what, text, options));
  return tokenizer.encode(text, options);
}

PromptProgress::PromptProgress(Session& session) : session_(session) {
  session_.follow([this](std::int64_t done, std::int64_t tokens) { show(done, tokens); });
}

void PromptProgress::show(std::int64_t done, std::int64_t tokens) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  if (!bar_) bar_ = std::make_unique<ProgressBar>("reading the prompt", static_cast<int>(tokens));
  bar_->reach(static_cast<int>(done), "tokens");
}

}  // namespace ingot
