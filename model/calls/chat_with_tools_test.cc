#include "model/calls/chat_with_tools.h"

#include <gtest/gtest.h>

#include "model/calls/test_templates.h"
#include "model/chat/chat_context.h"
#include "model/chat/value_json.h"

namespace ingot::calls {
namespace {

std::vector<chat::Value> messages_from(std::string_view json) { return chat::value_from_json(json).value().items(); }

const std::vector<Tool>& weather_tools() {
  static const std::vector<Tool> tools = read_tools(chat::value_from_json(R"([{"type": "function", "function": {
    "name": "weather", "description": "Today's.", "parameters": {"properties": {"city": {"type": "string"}}}}}])")
                                                        .value())
                                             .value();
  return tools;
}

constexpr std::string_view talk = R"([{"role": "user", "content": "Rain?"},
  {"role": "assistant", "content": null, "reasoning_content": "Look.", "tool_calls": [
    {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]},
  {"role": "tool", "tool_call_id": "1", "content": "dry"}])";

TEST(ChatWithTools, GivesToolsToATemplateThatShowsThem) {
  const auto chat = chat_with_tools(test_format("object"), messages_from(talk), weather_tools());
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  EXPECT_TRUE(chat.value().tools.has_value());
  ASSERT_EQ(chat.value().messages.size(), 3u);
  EXPECT_EQ(json_text(chat.value().messages[1]),
            R"({"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [{"id": "1", "type": )"
            R"("function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}]})");
  EXPECT_EQ(json_text(chat.value().messages[2]), R"({"role": "tool", "tool_call_id": "1", "content": "dry"})");
}

TEST(ChatWithTools, WritesCallsAndResultsAsTextWhereATemplateHasNoFormForThem) {
  const auto chat = chat_with_tools(CallFormat::generic("no calls"), messages_from(talk), weather_tools());
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  EXPECT_FALSE(chat.value().tools.has_value());
  ASSERT_EQ(chat.value().messages.size(), 4u);
  const std::string system = json_text(chat.value().messages[0]);
  EXPECT_NE(system.find(R"(\"name\": \"weather\")"), std::string::npos) << system;
  EXPECT_NE(system.find("<tool_call>"), std::string::npos) << system;
  EXPECT_EQ(json_text(chat.value().messages[2]),
            R"({"role": "assistant", "content": "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": )"
            R"(\"Rome\"}}\n</tool_call>", "reasoning_content": "Look.", "tool_calls": []})");
  EXPECT_EQ(json_text(chat.value().messages[3]),
            R"({"role": "user", "content": "<tool_response>\ndry\n</tool_response>"})");
}

TEST(ChatWithTools, AddsToTheSystemMessageThatIsThere) {
  const auto chat = chat_with_tools(CallFormat::generic("no calls"),
                                    messages_from(R"([{"role": "system", "content": "Be brief."}])"), weather_tools());
  ASSERT_EQ(chat.value().messages.size(), 1u);
  EXPECT_TRUE(json_text(chat.value().messages[0]).starts_with(R"({"role": "system", "content": "Be brief.\n\nYou)"));
}

TEST(ChatWithTools, KeepsToTheTurnsOfATemplateThatKnowsNoOthers) {
  const auto form = chat::ChatTemplate::parse(std::string(strict_template)).value();
  const CallFormat format = CallFormat::read(form, {});
  EXPECT_EQ(format.describe(), "generic: the template does not write calls hides-system in-turns");
  const auto chat = chat_with_tools(format, messages_from(R"([{"role": "user", "content": "Rain?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [{"function": {"name": "weather", "arguments": "{}"}}]},
    {"role": "tool", "content": "dry"}, {"role": "tool", "content": "warm"},
    {"role": "user", "content": [{"type": "text", "text": "And "}, {"type": "text", "text": "now?"}]},
    {"role": "assistant", "content": "Dry."}, {"role": "user", "content": "Thanks."}])"),
                                    weather_tools());
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  chat::ChatRequest request;
  request.messages = chat.value().messages;
  request.add_generation_prompt = true;
  const auto text = form.render(chat::make_context(std::move(request)));
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_TRUE(text.value().starts_with("<|user|>You may call functions")) << text.value();
  EXPECT_TRUE(text.value().ends_with(
      "without calling one.\n\nRain?<|end|><|assistant|>I look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": "
      "{}}\n"
      "</tool_call><|end|><|user|><tool_response>\ndry\n</tool_response>\n\n<tool_response>\nwarm\n</tool_response>\n\n"
      "And now?<|end|><|assistant|>Dry.<|end|><|user|>Thanks.<|end|><|assistant|>"))
      << text.value();
}

// Time that grows with the square of their number would show as a test that does not end.
TEST(ChatWithTools, PutsThousandsOfResultsIntoOneTurn) {
  const CallFormat format = CallFormat::read(chat::ChatTemplate::parse(std::string(strict_template)).value(), {});
  constexpr std::size_t results = 50'000;
  std::vector<chat::Value> messages = {chat::make_message("user", "Rain?")};
  for (std::size_t i = 0; i < results; ++i) messages.push_back(chat::make_message("tool", "dry"));
  messages.push_back(chat::make_message("assistant", "Dry."));
  const auto chat = chat_with_tools(format, std::move(messages), {});
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  ASSERT_EQ(chat.value().messages.size(), 2u);
  const std::string& words = chat.value().messages[0].as_dictionary().find("content")->bytes();
  EXPECT_TRUE(words.starts_with("Rain?\n\n<tool_response>\ndry\n</tool_response>\n\n<tool_response>"));
  EXPECT_EQ(words.size(), 5 + results * std::string_view("\n\n<tool_response>\ndry\n</tool_response>").size());
}

TEST(ChatWithTools, LeavesTurnsOfTheUserThatAreRefusedWithoutToolsToo) {
  const CallFormat format = CallFormat::read(chat::ChatTemplate::parse(std::string(strict_template)).value(), {});
  const auto chat = chat_with_tools(
      format, messages_from(R"([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])"), {});
  EXPECT_EQ(chat.value().messages.size(), 2u);
}

TEST(ChatWithTools, WantsObjectsAsArguments) {
  for (const char* arguments : {"\"[1]\"", "\"{\"", "1"}) {
    const std::string json = std::string(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", )") +
                             "\"arguments\": " + arguments + "}}]}]";
    const auto chat = chat_with_tools(test_format("object"), messages_from(json), {});
    ASSERT_FALSE(chat.ok()) << arguments;
    EXPECT_TRUE(chat.error().text().starts_with("expected a JSON object as arguments of a call, found"));
  }
}

TEST(ChatWithTools, TakesArgumentsOfAMillionValuesTogether) {
  std::string arguments = R"({\"a\": [0)";
  for (std::size_t value = 1; value < chat::most_json_values / 2; ++value) arguments += ",0";
  const std::string call = R"({"function": {"name": "f", "arguments": ")" + arguments + "]}\"}}";
  const auto talk_of = [&](const std::string& calls) {
    return messages_from(R"([{"role": "assistant", "tool_calls": [)" + calls + "]}]");
  };
  EXPECT_TRUE(chat_with_tools(test_format("object"), talk_of(call), {}).ok());
  const auto chat = chat_with_tools(test_format("object"), talk_of(call + "," + call), {});
  ASSERT_FALSE(chat.ok());
  EXPECT_EQ(chat.error().text(), "expected JSON of at most 1000000 values, found more");
}

TEST(Tools, TakeNothingWhereTheyDeclareNothing) {
  for (const std::string_view parameters : {"", R"(, "parameters": null)"}) {
    const std::string list = R"([{"type": "function", "function": {"name": "f")" + std::string(parameters) + "}}]";
    const auto tools = read_tools(chat::value_from_json(list).value());
    ASSERT_TRUE(tools.ok()) << tools.error().text();
    EXPECT_EQ(json_text(tools.value()[0].parameters),
              R"({"type": "object", "properties": {}, "additionalProperties": false})");
  }
}

TEST(Tools, AreReadFromOpenAisListAndNothingElse) {
  const auto error = [](std::string_view json) {
    const auto tools = read_tools(chat::value_from_json(json).value());
    return tools.ok() ? std::string("none") : std::string(tools.error().text());
  };
  EXPECT_EQ(error("{}"), "expected a list of tools, found an object");
  EXPECT_EQ(error(R"([{"type": "search"}])"), "tools[0]: expected \"type\": \"function\", found \"search\"");
  EXPECT_EQ(error(R"([{"name": "f", "input_schema": {}}])"),
            "tools[0]: expected \"type\": \"function\", found nothing");
  EXPECT_EQ(error(R"([{"type": "function", "function": {}}])"), "tools[0]: expected a name, found nothing");
  EXPECT_EQ(error(R"([{"type": "function", "function": {"name": "a b"}}])"),
            "tools[0]: expected a name of 1 to 128 letters, digits, '_', '-' and '.', found \"a b\"");
  EXPECT_EQ(error(R"([{"type": "function", "function": {"name": "a", "returns": {}}}])"),
            "tools[0]: nobody knows the field 'returns'");
  EXPECT_EQ(
      error(R"([{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "a"}}])"),
      "expected tools of different names, found two of 'a'");
}

}  // namespace
}  // namespace ingot::calls
