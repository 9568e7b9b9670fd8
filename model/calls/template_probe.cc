#include "model/calls/template_probe.h"

#include "model/chat/chat_context.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Value;

namespace {

// A template is input from outside, and a handful of short messages needs little.
constexpr chat::Limits probe_limits = {.steps = 300'000, .bytes = 16u << 20, .output_bytes = 1u << 20};

Value text_of(std::string_view text) { return Value::text(std::string(text)); }

Value call_value(const ProbedCall& call, bool has_arguments_as_text) {
  Dictionary function;
  function.insert("name", text_of(call.name));
  function.insert("arguments",
                  has_arguments_as_text ? text_of(grammar::canonical_json(call.arguments)) : call.arguments);
  Dictionary value;
  value.insert("id", text_of(call.id));
  value.insert("type", text_of("function"));
  value.insert("function", Value::dictionary(std::move(function)));
  return Value::dictionary(std::move(value));
}

Value message_value(const ProbedMessage& message) {
  Dictionary value;
  value.insert("role", text_of("assistant"));
  value.insert("content", message.content ? text_of(*message.content) : Value());
  if (!message.thought_field.empty()) {
    value.insert(std::string(message.thought_field), text_of(TemplateProbe::thought));
  }
  if (!message.calls.empty()) {
    std::vector<Value> calls;
    for (const ProbedCall& call : message.calls) calls.push_back(call_value(call, message.has_arguments_as_text));
    value.insert("tool_calls", Value::list(std::move(calls)));
  }
  return Value::dictionary(std::move(value));
}

Value property(std::string_view type) {
  Dictionary schema;
  schema.insert("type", text_of(type));
  schema.insert("description", text_of("One of two."));
  return Value::dictionary(std::move(schema));
}

Tool probed_tool(std::string_view name) {
  Dictionary properties;
  properties.insert(std::string(TemplateProbe::first_key), property("string"));
  properties.insert(std::string(TemplateProbe::second_key), property("integer"));
  Dictionary schema;
  schema.insert("type", text_of("object"));
  schema.insert("properties", Value::dictionary(std::move(properties)));
  schema.insert("required", Value::list({text_of(TemplateProbe::first_key)}));
  return {
      .name = std::string(name), .description = "Does something.", .parameters = Value::dictionary(std::move(schema))};
}

}  // namespace

Value TemplateProbe::arguments() {
  Dictionary arguments;
  arguments.insert(std::string(first_key), text_of(first_value));
  arguments.insert(std::string(second_key), Value::integer(271828));
  return Value::dictionary(std::move(arguments));
}

std::vector<Tool> TemplateProbe::tools() { return {probed_tool(first_name), probed_tool(second_name)}; }

std::optional<std::string> TemplateProbe::render(std::vector<Value> messages, bool asks,
                                                 std::optional<bool> thinking) const {
  chat::ChatRequest request;
  request.messages = std::move(messages);
  request.tools = tools_value(tools());
  request.bos_token = tokens_.bos_token;
  request.eos_token = tokens_.eos_token;
  request.add_generation_prompt = asks;
  request.now = chat::LocalTime{2024, 7, 26, 12, 0, 0};
  if (thinking) request.variables.emplace_back("enable_thinking", Value::boolean(*thinking));
  const auto text = form_.render(chat::make_context(std::move(request)), probe_limits);
  if (!text.ok()) return std::nullopt;
  return text.value();
}

std::optional<std::string> TemplateProbe::behind_question(const std::optional<std::string>& text) {
  const std::size_t place = text ? text->rfind(question) : std::string::npos;
  if (place == std::string::npos) return std::nullopt;
  return text->substr(place + question.size());
}

std::optional<std::string> TemplateProbe::answer(const ProbedMessage& message) const {
  return behind_question(
      render({chat::make_message("user", std::string(question)), message_value(message)}, false, std::nullopt));
}

std::optional<std::string> TemplateProbe::prompt(std::optional<bool> thinking) const {
  return behind_question(render({chat::make_message("user", std::string(question))}, true, thinking));
}

bool TemplateProbe::shows_tools() const {
  const auto text = render({chat::make_message("user", std::string(question))}, true, std::nullopt);
  return text && text->find(first_name) != std::string::npos && text->find(second_name) != std::string::npos;
}

bool TemplateProbe::shows_system() const {
  const auto text =
      render({chat::make_message("system", std::string(advice)), chat::make_message("user", std::string(question))},
             true, std::nullopt);
  return text && text->find(advice) != std::string::npos;
}

bool TemplateProbe::wants_turns() const {
  const Value asked = chat::make_message("user", std::string(question));
  const Value answered = chat::make_message("assistant", std::string(content));
  return render({asked, answered, asked}, true, std::nullopt) && !render({asked, asked}, true, std::nullopt);
}

}  // namespace ingot::calls
