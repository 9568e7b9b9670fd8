#include "server/prepared_chat.h"

#include <algorithm>

#include "model/calls/chat_with_tools.h"

namespace ingot {
namespace {

using protocol::Outcome;

// Messages of a kind that templates take each in a way of its own.
bool has_calls_or_thoughts(const chat::ChatRequest& chat) {
  return std::ranges::any_of(chat.messages, [](const chat::Value& message) {
    const chat::Dictionary& fields = message.as_dictionary();
    return fields.find("tool_calls") != nullptr || fields.find("tool_call_id") != nullptr ||
           fields.find("reasoning_content") != nullptr;
  });
}

}  // namespace

Outcome<chat::ChatRequest> with_tools(const HostedModel& model, chat::ChatRequest chat, const protocol::ToolUse& use) {
  const bool is_on = use.is_on();
  if (model.call_format() == nullptr || (!is_on && !has_calls_or_thoughts(chat))) return chat;
  const std::span<const calls::Tool> tools(use.tools.data(), is_on ? use.tools.size() : 0);
  Result<calls::ChatWithTools> made = calls::chat_with_tools(*model.call_format(), std::move(chat.messages), tools);
  if (!made.ok()) return protocol::wrong_field("messages", std::string(made.error().text()));
  chat.messages = std::move(made.value().messages);
  // Those that the template shows are shown as they were sent.
  if (!made.value().tools) chat.tools.reset();
  return chat;
}

protocol::ApiError template_error(const HostedModel& model, const Error& error) {
  return model.has_chat_template() ? protocol::wrong_template(error.text()) : protocol::no_template(model.id());
}

Outcome<PreparedChat> prepare_chat(const HostedModel& model, const protocol::ChatRequest& asked) {
  chat::ChatRequest chat = TRY(with_tools(model, asked.chat, asked.tools));
  Result<ChatPrompt> prompt = model.chat_prompt(std::move(chat));
  if (!prompt.ok()) return template_error(model, prompt.error());
  if (prompt.value().tokens.empty()) return protocol::wrong_template("it wrote nothing for these messages");
  PreparedChat prepared = {.prompt = std::move(prompt.value().tokens), .reading = {}, .shown_tokens = {}};
  const std::shared_ptr<const calls::CallFormat>& format = model.call_format();
  const bool is_on = asked.tools.is_on();
  // What must have a shape has it from its first letter to its last.
  const bool splits =
      asked.splits_thoughts && !asked.generation.shape && format != nullptr && !format->thought_begin().empty();
  if (format == nullptr || (!is_on && !splits)) return prepared;
  prepared.reading = {.format = format,
                      .begins_in_thought = prompt.value().opens_thought,
                      .reads_calls = is_on,
                      .tools = calls::known_tools(*format, asked.tools.tools)};
  prepared.shown_tokens = model.mark_tokens();
  return prepared;
}

}  // namespace ingot
