#include "model/chat/chat_context.h"

#include "model/chat/runtime.h"

namespace ingot::chat {

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
    return Value::text(TRY(format_time(now, format)));
  });
}

Value make_context(ChatRequest request) {
  Dictionary context;
  context.insert("messages", Value::list(std::move(request.messages)));
  if (request.tools) context.insert("tools", *std::move(request.tools));
  if (request.documents) context.insert("documents", *std::move(request.documents));
  context.insert("bos_token", Value::text(std::move(request.bos_token)));
  context.insert("eos_token", Value::text(std::move(request.eos_token)));
  context.insert("add_generation_prompt", Value::boolean(request.add_generation_prompt));
  if (request.now) context.insert("strftime_now", make_clock(*request.now));
  for (auto& [name, value] : request.variables) context.insert(std::move(name), std::move(value));
  return Value::dictionary(std::move(context));
}

}  // namespace ingot::chat
