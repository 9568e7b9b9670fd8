#include "server/protocol/conversation.h"

#include "server/protocol/chat_parts.h"

namespace ingot::protocol {

namespace {

using chat::Dictionary;
using chat::Value;

void append_line(std::string& text, std::string_view more) {
  if (!text.empty()) text += '\n';
  text += more;
}

}  // namespace

void Conversation::end_assistant() {
  if (!assistant_.has_spoken) return;
  Dictionary message;
  message.insert("role", Value::text("assistant"));
  // An assistant that calls tools may say nothing.
  const bool is_silent = !assistant_.has_words && !assistant_.calls.empty();
  message.insert("content", is_silent ? Value() : Value::text(std::move(assistant_.words)));
  if (!assistant_.thought.empty()) message.insert("reasoning_content", Value::text(std::move(assistant_.thought)));
  if (!assistant_.calls.empty()) message.insert("tool_calls", Value::list(std::move(assistant_.calls)));
  messages_.push_back(Value::dictionary(std::move(message)));
  assistant_ = {};
}

void Conversation::end_user() {
  if (!is_user_speaking_) return;
  messages_.push_back(chat::make_message("user", std::move(user_words_)));
  user_words_.clear();
  is_user_speaking_ = false;
}

void Conversation::add_words(std::string role, std::string words) {
  end_assistant();
  if (role != "user" || turns_ == Turns::kept) {
    end_user();
    messages_.push_back(chat::make_message(std::move(role), std::move(words)));
  } else if (is_user_speaking_) {
    append_line(user_words_, words);
  } else {
    is_user_speaking_ = true;
    user_words_ = std::move(words);
  }
}

void Conversation::add_assistant_words(std::string_view words) {
  end_user();
  assistant_.has_spoken = true;
  if (assistant_.has_words) assistant_.words += '\n';
  assistant_.has_words = true;
  assistant_.words += words;
}

void Conversation::add_thought(std::string_view thought) {
  end_user();
  assistant_.has_spoken = true;
  append_line(assistant_.thought, thought);
}

void Conversation::add_call(const std::string& id, const std::string& name, Value arguments) {
  end_user();
  assistant_.has_spoken = true;
  assistant_.calls.push_back(call_value(id, name, std::move(arguments)));
  names_.emplace(id, name);
}

void Conversation::add_result(std::string id, std::string words) {
  end_assistant();
  end_user();
  Dictionary message;
  message.insert("role", Value::text("tool"));
  message.insert("content", Value::text(std::move(words)));
  const auto called = names_.find(id);
  if (called != names_.end()) message.insert("name", Value::text(called->second));
  message.insert("tool_call_id", Value::text(std::move(id)));
  messages_.push_back(Value::dictionary(std::move(message)));
}

std::vector<Value> Conversation::finish() {
  end_assistant();
  end_user();
  return std::move(messages_);
}

}  // namespace ingot::protocol
