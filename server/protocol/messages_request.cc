#include "server/protocol/messages_request.h"

#include <array>

#include "server/protocol/chat_parts.h"
#include "server/protocol/conversation.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 2> message_roles = {"user", "assistant"};

Outcome<void> add_tool_use(FieldReader& reader, Conversation& conversation) {
  std::string id, name;
  reader.require("id", "a text");
  reader.require("name", "a text");
  reader.require("input", "an object");
  reader.read("id", id);
  reader.read("name", name);
  const Value* input = reader.value("input", Kind::dictionary);
  reader.harmless("cache_control", Kind::dictionary);
  reader.harmless("caller", Kind::dictionary);
  TRY(reader.finish());
  conversation.add_call(id, name, *input);
  return {};
}

// That it is an error is for its words to say: no template knows more.
Outcome<void> add_tool_result(FieldReader& reader, Conversation& conversation) {
  std::string id, words;
  reader.require("tool_use_id", "a text");
  reader.read("tool_use_id", id);
  reader.harmless("is_error", Kind::boolean);
  reader.harmless("cache_control", Kind::dictionary);
  const Value* content = reader.value("content");
  TRY(reader.finish());
  const bool is_empty = content == nullptr || (content->is(Kind::sequence) && content->items().empty());
  if (!is_empty) words = TRY(read_text_or_parts(*content, reader.place_of("content"), plain_text));
  conversation.add_result(std::move(id), std::move(words));
  return {};
}

Outcome<void> add_thinking(FieldReader& reader, Conversation& conversation) {
  std::string thought;
  reader.require("thinking", "a text");
  reader.read("thinking", thought);
  reader.harmless("signature", Kind::text);
  TRY(reader.finish());
  conversation.add_thought(thought);
  return {};
}

Outcome<void> add_block(const Value& block, const std::string& place, bool is_assistant, Conversation& conversation) {
  FieldReader reader = TRY(object_reader(block, place));
  std::string type;
  reader.require("type", "the type of a block");
  reader.read("type", type);
  TRY(reader.outcome());
  if (type == "tool_use" && is_assistant) return add_tool_use(reader, conversation);
  if (type == "thinking" && is_assistant) return add_thinking(reader, conversation);
  if (type == "redacted_thinking" && is_assistant) return {};  // nobody but whoever wrote it can read it
  if (type == "tool_result" && !is_assistant) return add_tool_result(reader, conversation);
  if (type != "text") {
    return not_served_yet(place, "a block of type '" + type + "' of the " + (is_assistant ? "assistant" : "user"));
  }
  std::string words = TRY(read_text_part(block, place, plain_text));
  if (is_assistant) {
    conversation.add_assistant_words(words);
  } else {
    conversation.add_words("user", std::move(words));
  }
  return {};
}

Outcome<void> add_turn(const Value& message, const std::string& place, Conversation& conversation) {
  FieldReader reader = TRY(object_reader(message, place));
  reader.require("role", listed(message_roles));
  const Value* role = reader.value("role");
  if (role != nullptr && !is_one_of(message_roles, *role)) reader.fail("role", listed(message_roles), *role);
  reader.require("content", "a text or a list of blocks");
  const Value* content = reader.value("content");
  TRY(reader.finish());
  const bool is_assistant = role->bytes() == "assistant";
  if (content->is_text()) {
    if (is_assistant) {
      conversation.add_assistant_words(content->bytes());
    } else {
      conversation.add_words("user", content->bytes());
    }
    return {};
  }
  const std::string content_place = reader.place_of("content");
  if (!content->is(Kind::sequence) || content->items().empty()) {
    return wrong_field(content_place,
                       content_place + ": expected a text or a list of blocks, found " + described(*content));
  }
  for (std::size_t index = 0; index < content->items().size(); ++index) {
    TRY(add_block(content->items()[index], item_place(content_place, index), is_assistant, conversation));
  }
  return {};
}

Outcome<std::vector<Value>> read_messages(const Value* system, const Value& messages) {
  Conversation conversation(Turns::joined);
  const bool is_system_empty = system == nullptr || (system->is(Kind::sequence) && system->items().empty());
  if (!is_system_empty) conversation.add_words("system", TRY(read_text_or_parts(*system, "system", plain_text)));
  for (std::size_t index = 0; index < messages.items().size(); ++index) {
    TRY(add_turn(messages.items()[index], item_place("messages", index), conversation));
  }
  return conversation.finish();
}

// An assistant's words at the end are the answer's begin; what it called or thought is no such thing.
bool is_begun(const Value& last) {
  const chat::Dictionary& message = last.as_dictionary();
  return is_text_of(*message.find("role"), "assistant") && message.find("tool_calls") == nullptr &&
         message.find("reasoning_content") == nullptr;
}

void read_conversation(FieldReader& reader, chat::ChatRequest& chat) {
  constexpr std::string_view expected = "a list of at least one message";
  reader.require("messages", expected);
  const Value* system = reader.value("system");
  const Value* messages = reader.value("messages");
  if (messages == nullptr) return;
  if (!messages->is(Kind::sequence) || messages->items().empty()) return reader.fail("messages", expected, *messages);
  Outcome<std::vector<Value>> read = read_messages(system, *messages);
  if (!read.ok()) return reader.fail(read.error());
  chat.messages = std::move(read).value();
  if (!chat.messages.empty() && is_begun(chat.messages.back())) {
    if (const Outcome<void> begun = continue_last_message(chat, "messages"); !begun.ok()) reader.fail(begun.error());
  }
  if (chat.messages.empty()) reader.fail(wrong_field("messages", "messages: expected one of a user's, found none"));
}

Outcome<void> read_thinking(const Value& given, chat::ChatRequest& chat) {
  static constexpr std::array<std::string_view, 3> types = {"enabled", "disabled", "adaptive"};
  FieldReader reader(given.as_dictionary(), "thinking");
  reader.require("type", listed(types));
  const Value* type = reader.value("type");
  if (type != nullptr && !is_one_of(types, *type)) reader.fail("type", listed(types), *type);
  // Anthropic's is a target too, and no template has a place for it.
  reader.harmless("budget_tokens", Kind::integer);
  reader.harmless("display", Kind::text);
  TRY(reader.finish());
  if (!is_text_of(*type, "adaptive")) set_thinking(chat, is_text_of(*type, "enabled"));
  return {};
}

Outcome<void> read_output_settings(const Value& given, ChatRequest& request) {
  FieldReader reader(given.as_dictionary(), "output_config");
  read_effort(reader, "effort", request.chat);
  if (const Value* format = reader.value("format", Kind::dictionary)) {
    read_format(reader, "output_config.format", *format, request.generation.shape);
  }
  return reader.finish();
}

// What a count depends on too.
void read_prompt_fields(FieldReader& reader, ChatRequest& request) {
  read_conversation(reader, request.chat);
  read_message_tools(reader, request.tools, request.chat);
  if (const Value* thinking = reader.value("thinking", Kind::dictionary)) {
    if (const Outcome<void> read = read_thinking(*thinking, request.chat); !read.ok()) reader.fail(read.error());
  }
  if (const Value* settings = reader.value("output_config", Kind::dictionary)) {
    if (const Outcome<void> read = read_output_settings(*settings, request); !read.ok()) reader.fail(read.error());
  }
  read_variables(reader, request.chat);
  reader.harmless("cache_control", Kind::dictionary);
  for (const std::string_view name : {"container", "context_management", "mcp_servers", "diagnostics"}) {
    reader.refused(name, name);
  }
}

}  // namespace

Outcome<ChatRequest> read_messages_request(const chat::Dictionary& body, const ServedModel& model) {
  ChatRequest request;
  FieldReader reader(body);
  constexpr Integers lengths = {1, std::numeric_limits<std::int32_t>::max()};
  read_prompt_fields(reader, request);
  reader.require("max_tokens", "a whole number of at least 1");
  reader.read("max_tokens", request.generation.most_tokens, lengths);
  read_generation_fields(reader, model, request.generation);
  read_stops(reader, "stop_sequences", request.generation.text.stops);
  check_lengths(reader, request.generation);
  reader.harmless("metadata", Kind::dictionary);
  for (const std::string_view name : {"service_tier", "inference_geo"}) reader.harmless(name, Kind::text);
  // None of Anthropic's events has a place for it.
  if (request.generation.text.wants_progress) reader.fail(not_served_yet("return_progress", "return_progress of true"));
  if (request.generation.choices != 1) reader.fail(not_served_yet("n", "n other than 1"));
  TRY(reader.finish());
  return request;
}

Outcome<ChatRequest> read_count_request(const chat::Dictionary& body) {
  ChatRequest request;
  FieldReader reader(body);
  reader.read("model", request.generation.model);
  read_prompt_fields(reader, request);
  TRY(reader.finish());
  return request;
}

}  // namespace ingot::protocol
