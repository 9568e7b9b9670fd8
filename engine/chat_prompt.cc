#include "engine/chat_prompt.h"

#include <ctime>

namespace ingot {
namespace {

chat::LocalTime local_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec};
}

std::string spelled(const Tokenizer& tokenizer, TokenId id) {
  return tokenizer.is_token(id) ? std::string(tokenizer.piece(id)) : "";
}

}  // namespace

Result<chat::MarkedText> render_chat(const chat::ChatTemplate& form, const Tokenizer& tokenizer,
                                     chat::ChatRequest request) {
  request.bos_token = spelled(tokenizer, tokenizer.bos());
  request.eos_token = spelled(tokenizer, tokenizer.eos());
  request.now = local_now();
  return form.render_marked(chat::make_context(std::move(request)));
}

Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, const chat::MarkedText& text) {
  std::vector<TextRange> foreign;
  for (const auto& [begin, end] : text.marks.stretches()) foreign.push_back({begin, end});
  // The template writes the special tokens itself, the first one included.
  return tokenizer.encode(text.bytes,
                          {.adds_special_tokens = false, .parses_special_tokens = true, .foreign = foreign});
}

}  // namespace ingot
