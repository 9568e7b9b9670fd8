#include "server/protocol/chat_parts.h"

#include <array>

#include "model/chat/value_json.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 7> efforts = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};

Outcome<void> copy_variables(const Dictionary& given, chat::ChatRequest& chat) {
  static constexpr std::array<std::string_view, 7> made_here = {
      "messages", "tools", "documents", "bos_token", "eos_token", "add_generation_prompt", "strftime_now"};
  for (const Dictionary::Entry& entry : given.entries()) {
    if (is_one_of(made_here, entry.key)) {
      const std::string place = "chat_template_kwargs." + entry.key.bytes();
      return wrong_field(place, place + ": expected a further variable, found one that the server sets");
    }
    chat.variables.emplace_back(entry.key.bytes(), chat::marked(entry.value));
  }
  return {};
}

}  // namespace

Value call_value(std::string id, std::string name, Value arguments) {
  Dictionary function;
  function.insert("name", Value::text(std::move(name)));
  function.insert("arguments", std::move(arguments));
  Dictionary call;
  if (!id.empty()) call.insert("id", Value::text(std::move(id)));
  call.insert("type", Value::text("function"));
  call.insert("function", Value::dictionary(std::move(function)));
  return Value::dictionary(std::move(call));
}

Value arguments_value(std::string json, std::size_t& values_left) {
  const Result<Value> parsed = chat::value_from_json(json, values_left);
  const bool is_object = parsed.ok() && parsed.value().is(Kind::dictionary);
  return is_object ? parsed.value() : Value::text(std::move(json));
}

std::string role_for(std::string role, const ServedModel& model) {
  return role == "developer" && !model.knows_developers ? "system" : std::move(role);
}

Outcome<void> continue_last_message(chat::ChatRequest& chat, const std::string& field) {
  const Dictionary& last = chat.messages.back().as_dictionary();
  const Value* content = last.find("content");
  if (last.find("role")->bytes() != "assistant" || content == nullptr || !content->is_text()) {
    return wrong_field(field, field + ": expected an assistant's text as the last message");
  }
  chat.answer_begin = content->bytes();
  chat.messages.pop_back();
  return {};
}

void set_thinking(chat::ChatRequest& chat, bool is_wanted) {
  for (const char* name : {"enable_thinking", "thinking"}) {
    chat.variables.emplace_back(name, Value::boolean(is_wanted));
  }
}

void read_effort(FieldReader& reader, std::string_view field, chat::ChatRequest& chat) {
  const Value* effort = reader.value(field);
  if (effort == nullptr) return;
  if (!is_one_of(efforts, *effort)) return reader.fail(field, listed(efforts), *effort);
  chat.variables.emplace_back("reasoning_effort", *effort);
  if (effort->bytes() == "none") set_thinking(chat, false);
}

void read_variables(FieldReader& reader, chat::ChatRequest& chat) {
  const Value* variables = reader.value("chat_template_kwargs", Kind::dictionary);
  if (variables == nullptr) return;
  if (const Outcome<void> read = copy_variables(variables->as_dictionary(), chat); !read.ok())
    reader.fail(read.error());
}

}  // namespace ingot::protocol
