#include "server/protocol/chat_messages.h"

#include <array>

#include "model/chat/value_json.h"
#include "server/protocol/chat_parts.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 5> chat_roles = {"system", "developer", "user", "assistant", "tool"};

// With its arguments as an object; as the text that they are where they are none, or have more values than are left.
Outcome<Value> read_tool_call(const Value& call, const std::string& place, std::size_t& values_left) {
  FieldReader reader = TRY(object_reader(call, place));
  std::string id;
  std::string type = "function";
  reader.read("id", id);
  reader.read("type", type);
  reader.harmless("index", Kind::integer);
  if (type != "function") reader.fail(not_served_yet(reader.place_of("type"), "a tool call of type '" + type + "'"));
  reader.require("function", "an object");
  const Value* called = reader.value("function", Kind::dictionary);
  TRY(reader.finish());

  FieldReader function(called->as_dictionary(), reader.place_of("function"));
  std::string name;
  std::string arguments;
  for (const std::string_view field : {"name", "arguments"}) function.require(field, "a text");
  function.read("name", name);
  function.read("arguments", arguments);
  TRY(function.finish());

  return call_value(std::move(id), std::move(name), arguments_value(std::move(arguments), values_left));
}

Outcome<Value> read_tool_calls(const Value& calls, const std::string& place, std::size_t& values_left) {
  std::vector<Value> made;
  for (std::size_t index = 0; index < calls.items().size(); ++index) {
    made.push_back(TRY(read_tool_call(calls.items()[index], item_place(place, index), values_left)));
  }
  return Value::list(std::move(made));
}

void copy_text(FieldReader& reader, std::string_view name, Dictionary& message) {
  if (const Value* found = reader.value(name, Kind::text)) message.insert(std::string(name), *found);
}

Outcome<Value> read_message(const Value& given, const std::string& place, const ServedModel& model,
                            std::size_t& values_left) {
  FieldReader reader = TRY(object_reader(given, place));
  reader.require("role", listed(chat_roles));
  const Value* role = reader.value("role");
  if (role != nullptr && !is_one_of(chat_roles, *role)) reader.fail("role", listed(chat_roles), *role);
  TRY(reader.outcome());
  const bool is_assistant = role->bytes() == "assistant";

  Dictionary message;
  message.insert("role", Value::text(role_for(role->bytes(), model)));
  const Value* calls = is_assistant ? reader.value("tool_calls", Kind::sequence) : nullptr;
  const bool has_calls = calls != nullptr && !calls->items().empty();
  // An assistant that calls tools may say nothing.
  if (!has_calls) reader.require("content", "a text or a list of parts");
  const Value* content = reader.value("content");
  TRY(reader.outcome());
  if (content == nullptr) {
    message.insert("content", Value());
  } else {
    message.insert("content", Value::text(TRY(read_text_or_parts(*content, reader.place_of("content"), plain_text))));
  }
  if (has_calls) message.insert("tool_calls", TRY(read_tool_calls(*calls, reader.place_of("tool_calls"), values_left)));
  copy_text(reader, "name", message);
  if (is_assistant) {
    copy_text(reader, "reasoning_content", message);
    reader.harmless("annotations", Kind::sequence);
    for (const std::string_view name : {"refusal", "audio", "function_call"}) reader.refused(name, name);
  }
  if (role->bytes() == "tool") copy_text(reader, "tool_call_id", message);
  TRY(reader.finish());
  return Value::dictionary(std::move(message));
}

void read_end(FieldReader& reader, chat::ChatRequest& chat) {
  std::optional<bool> adds_prompt;
  bool continues = false;
  reader.read("add_generation_prompt", adds_prompt);
  reader.read("continue_final_message", continues);
  chat.add_generation_prompt = continues || adds_prompt.value_or(true);
  if (!continues || reader.has_failed()) return;
  if (adds_prompt.value_or(false)) {
    return reader.fail(wrong_field("continue_final_message",
                                   "continue_final_message: expected only where add_generation_prompt is not true"));
  }
  const Outcome<void> continued = continue_last_message(chat, "continue_final_message");
  if (!continued.ok()) reader.fail(continued.error());
}

}  // namespace

void read_chat(FieldReader& reader, const ServedModel& model, chat::ChatRequest& chat) {
  constexpr std::string_view expected = "a list of at least one message";
  reader.require("messages", expected);
  if (const Value* messages = reader.value("messages")) {
    if (!messages->is(Kind::sequence) || messages->items().empty()) {
      reader.fail("messages", expected, *messages);
    } else {
      std::size_t values_left = chat::most_json_values;  // of the arguments of all calls
      for (std::size_t index = 0; index < messages->items().size() && !reader.has_failed(); ++index) {
        Outcome<Value> message =
            read_message(messages->items()[index], item_place("messages", index), model, values_left);
        if (message.ok()) {
          chat.messages.push_back(std::move(message).value());
        } else {
          reader.fail(message.error());
        }
      }
    }
  }
  read_end(reader, chat);
  // Named first, so that chat_template_kwargs wins: the later variable counts.
  read_effort(reader, "reasoning_effort", chat);
  read_variables(reader, chat);
}

}  // namespace ingot::protocol
