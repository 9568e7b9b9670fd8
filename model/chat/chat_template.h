// A model's chat template: Jinja source that turns messages into the text the model reads, rendered as Hugging Face's
// library renders it (trim_blocks, lstrip_blocks, loop controls, an immutable sandbox).
//
//   ChatTemplate chat = TRY(ChatTemplate::parse(source));
//   MarkedText prompt = TRY(chat.render_marked(make_context(request)));
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/chat/budget.h"
#include "model/chat/value.h"

namespace ingot::chat {

class ChatTemplate {
 public:
  static Result<ChatTemplate> parse(std::string source);

  const std::string& source() const;

  // The context is a dictionary of the template's variables; chat_context.h makes one. A template may say itself that
  // it cannot render a chat (raise_exception): that is an error as any other, with the line where it happened.
  Result<std::string> render(const Value& context, const Limits& limits = {}) const;
  // Which of its bytes came from messages too: what they spell is text, never a special token.
  Result<MarkedText> render_marked(const Value& context, const Limits& limits = {}) const;

 private:
  struct Parsed;
  explicit ChatTemplate(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace ingot::chat
