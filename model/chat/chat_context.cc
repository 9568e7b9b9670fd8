#include "model/chat/chat_context.h"

#include "model/chat/runtime.h"

namespace ingot::chat {

namespace {

std::vector<Value> all_marked(const std::vector<Value>& items) {
  std::vector<Value> result;
  result.reserve(items.size());
  for (const Value& item : items) result.push_back(marked(item));
  return result;
}

}  // namespace

Value marked(const Value& value) {
  switch (value.kind()) {
    case Kind::text: return Value::text_like(MarkedText::made(value.bytes(), true), value.as_text().is_markup);
    case Kind::sequence: return Value::sequence(value.as_sequence().form, all_marked(value.items()));
    case Kind::dictionary: {
      Dictionary dictionary;
      for (const Dictionary::Entry& entry : value.as_dictionary().entries()) {
        dictionary.insert(marked(entry.key), marked(entry.value));
      }
      return Value::dictionary(std::move(dictionary));
    }
    default: return value;
  }
}

namespace {

Value marked_message(const Value& message) {
  const Value* role = message.is(Kind::dictionary) ? message.as_dictionary().find("role") : nullptr;
  const Value result = marked(message);
  if (role == nullptr) return result;
  Dictionary with_role = result.as_dictionary();
  with_role.insert("role", *role);
  return Value::dictionary(std::move(with_role));
}

}  // namespace

Value make_message(std::string role, std::string content) {
  Dictionary message;
  message.insert("role", Value::text(std::move(role)));
  message.insert("content", Value::text(std::move(content)));
  return Value::dictionary(std::move(message));
}

Value make_clock(const LocalTime& now) {
  return make_function("strftime_now", [now](Runtime& runtime, const Arguments& arguments) -> Result<Value> {
    const BoundArguments bound = TRY(bind("strftime_now", arguments, {"format"}, 1));
    const std::string format = TRY(bound.text(0, ""));
    TRY(runtime.budget.spend_bytes(format.size() * 16));
    return Value::text(MarkedText::made(TRY(format_time(now, format)), bound[0].is_marked()));
  });
}

Value make_context(ChatRequest request) {
  Dictionary context;
  for (Value& message : request.messages) message = marked_message(message);
  context.insert("messages", Value::list(std::move(request.messages)));
  if (request.tools) context.insert("tools", marked(*request.tools));
  if (request.documents) context.insert("documents", marked(*request.documents));
  context.insert("bos_token", Value::text(std::move(request.bos_token)));
  context.insert("eos_token", Value::text(std::move(request.eos_token)));
  context.insert("add_generation_prompt", Value::boolean(request.add_generation_prompt));
  if (request.now) context.insert("strftime_now", make_clock(*request.now));
  for (auto& [name, value] : request.variables) context.insert(std::move(name), std::move(value));
  return Value::dictionary(std::move(context));
}

}  // namespace ingot::chat
