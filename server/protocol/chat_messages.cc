#include "server/protocol/chat_messages.h"

#include <algorithm>
#include <array>

#include "model/chat/value_json.h"

namespace ingot::protocol {

namespace {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 5> roles = {"system", "developer", "user", "assistant", "tool"};
constexpr std::array<std::string_view, 7> efforts = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};

template <std::size_t Count>
bool is_one_of(const std::array<std::string_view, Count>& names, const Value& value) {
  return value.is_text() && std::ranges::find(names, value.bytes()) != names.end();
}

template <std::size_t Count>
std::string listed(const std::array<std::string_view, Count>& names) {
  std::string text = "one of";
  for (const std::string_view& name : names) text.append(&name == names.data() ? " " : ", ").append(name);
  return text;
}

std::string item_place(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

Outcome<std::string> read_part(const Value& part, const std::string& place) {
  if (!part.is(Kind::dictionary)) {
    return wrong_field(place, place + ": expected an object, found " + described(part));
  }
  FieldReader reader(part.as_dictionary(), place);
  std::string type;
  std::string text;
  reader.require("type", "the text 'text'");
  reader.read("type", type);
  TRY(reader.outcome());
  if (type != "text") return not_served_yet(place, "a part of type '" + type + "'");
  reader.require("text", "a text");
  reader.read("text", text);
  reader.harmless("prompt_cache_breakpoint", Kind::dictionary);
  reader.harmless("cache_control", Kind::dictionary);
  TRY(reader.finish());
  return text;
}

Outcome<std::string> read_content(const Value& content, const std::string& place) {
  if (content.is_text()) return content.bytes();
  if (!content.is(Kind::sequence) || content.items().empty()) {
    return wrong_field(place, place + ": expected a text or a list of parts, found " + described(content));
  }
  std::string joined;
  for (std::size_t index = 0; index < content.items().size(); ++index) {
    if (index > 0) joined += '\n';
    joined += TRY(read_part(content.items()[index], item_place(place, index)));
  }
  return joined;
}

// With its arguments as an object; as the text that they are where they are none, or have more values than are left.
Outcome<Value> read_tool_call(const Value& call, const std::string& place, std::size_t& values_left) {
  if (!call.is(Kind::dictionary)) {
    return wrong_field(place, place + ": expected an object, found " + described(call));
  }
  FieldReader reader(call.as_dictionary(), place);
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

  const Result<Value> parsed = chat::value_from_json(arguments, values_left);
  const bool is_object = parsed.ok() && parsed.value().is(Kind::dictionary);
  Dictionary made_function;
  made_function.insert("name", Value::text(std::move(name)));
  made_function.insert("arguments", is_object ? parsed.value() : Value::text(std::move(arguments)));
  Dictionary made;
  if (!id.empty()) made.insert("id", Value::text(std::move(id)));
  made.insert("type", Value::text(std::move(type)));
  made.insert("function", Value::dictionary(std::move(made_function)));
  return Value::dictionary(std::move(made));
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
  if (!given.is(Kind::dictionary)) {
    return wrong_field(place, place + ": expected an object, found " + described(given));
  }
  FieldReader reader(given.as_dictionary(), place);
  reader.require("role", listed(roles));
  const Value* role = reader.value("role");
  if (role != nullptr && !is_one_of(roles, *role)) reader.fail("role", listed(roles), *role);
  TRY(reader.outcome());
  const bool is_assistant = role->bytes() == "assistant";
  const bool is_system = role->bytes() == "developer" && !model.knows_developers;

  Dictionary message;
  message.insert("role", is_system ? Value::text("system") : *role);
  const Value* calls = is_assistant ? reader.value("tool_calls", Kind::sequence) : nullptr;
  const bool has_calls = calls != nullptr && !calls->items().empty();
  // An assistant that calls tools may say nothing.
  if (!has_calls) reader.require("content", "a text or a list of parts");
  const Value* content = reader.value("content");
  TRY(reader.outcome());
  if (content == nullptr) {
    message.insert("content", Value());
  } else {
    message.insert("content", Value::text(TRY(read_content(*content, reader.place_of("content")))));
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

// Takes the last message off, as the answer's begin.
Outcome<void> continue_last_message(chat::ChatRequest& chat) {
  constexpr std::string_view field = "continue_final_message";
  const Dictionary& last = chat.messages.back().as_dictionary();
  const Value* content = last.find("content");
  if (last.find("role")->bytes() != "assistant" || content == nullptr || !content->is_text()) {
    return wrong_field(std::string(field), std::string(field) + ": expected an assistant's text as the last message");
  }
  chat.answer_begin = content->bytes();
  chat.messages.pop_back();
  return {};
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
  if (const Outcome<void> continued = continue_last_message(chat); !continued.ok()) reader.fail(continued.error());
}

Outcome<void> read_variables(const Dictionary& given, chat::ChatRequest& chat) {
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
  if (const Value* effort = reader.value("reasoning_effort")) {
    if (is_one_of(efforts, *effort)) {
      chat.variables.emplace_back("reasoning_effort", *effort);
    } else {
      reader.fail("reasoning_effort", listed(efforts), *effort);
    }
  }
  if (const Value* variables = reader.value("chat_template_kwargs", Kind::dictionary)) {
    if (const Outcome<void> read = read_variables(variables->as_dictionary(), chat); !read.ok()) {
      reader.fail(read.error());
    }
  }
}

}  // namespace ingot::protocol
