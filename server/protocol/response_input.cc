#include "server/protocol/response_input.h"

#include <array>

#include "model/chat/value_json.h"
#include "server/protocol/chat_parts.h"
#include "server/protocol/conversation.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 4> item_roles = {"user", "assistant", "system", "developer"};
constexpr std::array<std::string_view, 3> item_text_types = {"input_text", "output_text", "text"};

// Items of an answer are sent back as they came.
void pass_over_state(FieldReader& reader) {
  for (const std::string_view name : {"id", "status", "phase"}) reader.harmless(name, Kind::text);
}

Outcome<void> add_item_message(FieldReader& reader, const ServedModel& model, Conversation& conversation) {
  reader.require("role", listed(item_roles));
  const Value* role = reader.value("role");
  if (role != nullptr && !is_one_of(item_roles, *role)) reader.fail("role", listed(item_roles), *role);
  reader.require("content", "a text or a list of parts");
  const Value* content = reader.value("content");
  pass_over_state(reader);
  TRY(reader.finish());
  std::string words = TRY(read_text_or_parts(*content, reader.place_of("content"), item_text_types));
  if (role->bytes() == "assistant") {
    conversation.add_assistant_words(words);
  } else {
    conversation.add_words(role_for(role->bytes(), model), std::move(words));
  }
  return {};
}

Outcome<void> add_item_call(FieldReader& reader, std::size_t& values_left, Conversation& conversation) {
  std::string id, name, arguments;
  for (const std::string_view field : {"call_id", "name", "arguments"}) reader.require(field, "a text");
  reader.read("call_id", id);
  reader.read("name", name);
  reader.read("arguments", arguments);
  pass_over_state(reader);
  TRY(reader.finish());
  conversation.add_call(id, name, arguments_value(std::move(arguments), values_left));
  return {};
}

Outcome<void> add_item_result(FieldReader& reader, Conversation& conversation) {
  std::string id;
  reader.require("call_id", "a text");
  reader.read("call_id", id);
  reader.require("output", "a text or a list of parts");
  const Value* output = reader.value("output");
  pass_over_state(reader);
  TRY(reader.finish());
  conversation.add_result(std::move(id), TRY(read_text_or_parts(*output, reader.place_of("output"), item_text_types)));
  return {};
}

// What it had to say of itself, or where that is not told, its summary.
Outcome<void> add_item_reasoning(FieldReader& reader, Conversation& conversation) {
  static constexpr std::array<std::string_view, 2> types = {"reasoning_text", "summary_text"};
  const Value* content = reader.value("content", Kind::sequence);
  const Value* summary = reader.value("summary", Kind::sequence);
  reader.harmless("encrypted_content", Kind::text);  // none of this server's
  pass_over_state(reader);
  TRY(reader.finish());
  for (const auto& [name, told] : {std::pair{"content", content}, std::pair{"summary", summary}}) {
    if (told == nullptr || told->items().empty()) continue;
    conversation.add_thought(TRY(read_text_or_parts(*told, reader.place_of(name), types)));
    break;
  }
  return {};
}

Outcome<void> add_item(const Value& item, const std::string& place, const ServedModel& model, std::size_t& values_left,
                       Conversation& conversation) {
  FieldReader reader = TRY(object_reader(item, place));
  std::string type = "message";
  reader.read("type", type);
  TRY(reader.outcome());
  if (type == "message") return add_item_message(reader, model, conversation);
  if (type == "function_call") return add_item_call(reader, values_left, conversation);
  if (type == "function_call_output") return add_item_result(reader, conversation);
  if (type == "reasoning") return add_item_reasoning(reader, conversation);
  return not_served_yet(place, "an item of type '" + type + "'");
}

}  // namespace

Outcome<std::vector<Value>> read_response_input(const Value* instructions, const Value& input,
                                                const ServedModel& model) {
  Conversation conversation(Turns::kept);
  if (instructions != nullptr) conversation.add_words("system", instructions->bytes());
  if (input.is_text()) {
    conversation.add_words("user", input.bytes());
    return conversation.finish();
  }
  std::size_t values_left = chat::most_json_values;  // of the arguments of all calls
  for (std::size_t index = 0; index < input.items().size(); ++index) {
    TRY(add_item(input.items()[index], item_place("input", index), model, values_left, conversation));
  }
  return conversation.finish();
}

}  // namespace ingot::protocol
