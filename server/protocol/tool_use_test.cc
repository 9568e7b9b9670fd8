#include "server/protocol/tool_use.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

using ReadTools = void (*)(FieldReader&, ToolUse&, chat::ChatRequest&);

struct ReadUse {
  ToolUse use;
  std::string shown;  // to the template
  std::string error;  // the field, and what was said of it
};

ReadUse use_of(ReadTools read, std::string_view body) {
  const chat::Dictionary fields = json_object(body);
  FieldReader reader(fields);
  ReadUse made;
  chat::ChatRequest chat;
  read(reader, made.use, chat);
  if (const Outcome<void> outcome = reader.finish(); !outcome.ok()) {
    made.error = outcome.error().param + "|" + outcome.error().message;
  }
  if (chat.tools) made.shown = json_of(*chat.tools);
  return made;
}

constexpr std::string_view chat_tool =
    R"({"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"a":1}}})";
constexpr std::string_view response_tool = R"({"type":"function","name":"f","description":"d","parameters":{"a":1}})";
constexpr std::string_view message_tool = R"({"name":"f","description":"d","input_schema":{"a":1}})";

std::string tools_with(std::string_view tool, std::string_view fields = "") {
  return R"({"tools":[)" + std::string(tool) + "]" + std::string(fields) + "}";
}

TEST(ToolUse, IsTheSameInAllForms) {
  for (const auto& [read, tool] : {std::pair<ReadTools, std::string_view>{read_chat_tools, chat_tool},
                                   std::pair<ReadTools, std::string_view>{read_response_tools, response_tool},
                                   std::pair<ReadTools, std::string_view>{read_message_tools, message_tool}}) {
    const ReadUse made = use_of(read, tools_with(tool));
    EXPECT_EQ(made.error, "") << tool;
    ASSERT_EQ(made.use.tools.size(), 1u) << tool;
    EXPECT_EQ(made.use.tools[0].name, "f");
    EXPECT_EQ(json_of(made.use.tools[0].parameters), R"({"a":1})");
    EXPECT_EQ(made.use.choice, ToolChoice::automatic);
    EXPECT_TRUE(made.use.is_parallel);
    EXPECT_TRUE(made.use.is_on());
  }
  EXPECT_EQ(use_of(read_chat_tools, tools_with(chat_tool)).shown, "[" + std::string(chat_tool) + "]");
  EXPECT_EQ(use_of(read_message_tools, tools_with(message_tool)).shown,
            R"([{"type":"function","function":{"name":"f","description":"d","parameters":{"a":1}}}])");
}

TEST(ToolUse, OfAFunctionWithoutParametersTakesNothing) {
  const ReadUse made = use_of(read_chat_tools, R"({"tools":[{"type":"function","function":{"name":"f"}}]})");
  EXPECT_EQ(json_of(made.use.tools[0].parameters), R"({"type":"object","properties":{},"additionalProperties":false})");
}

// Templates that join a description to words, or go through the parameters, do not ask whether they are there.
TEST(ToolUse, ShowsDescriptionsAndParametersOfToolsThatHaveNone) {
  const std::string bare = R"({"type":"function","function":{"name":"g","strict":true,"parameters":{"a":1}}})";
  const ReadUse made =
      use_of(read_chat_tools, R"({"tools":[)" + std::string(chat_tool) + "," + bare +
                                  R"(,{"type":"function","function":{"name":"h","description":"d"}}]})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.shown, "[" + std::string(chat_tool) +
                            R"(,{"type":"function","function":{"name":"g","description":"","parameters":{"a":1}}},)"
                            R"({"type":"function","function":{"name":"h","description":"d","parameters":)"
                            R"({"type":"object","properties":{},"additionalProperties":false}}}])");
}

TEST(ToolUse, ThatIsChosenByWord) {
  for (const auto& [word, choice] : {std::pair<std::string, ToolChoice>{"auto", ToolChoice::automatic},
                                     std::pair<std::string, ToolChoice>{"required", ToolChoice::required},
                                     std::pair<std::string, ToolChoice>{"none", ToolChoice::none}}) {
    const std::string field = R"(,"tool_choice":")" + word + "\"";
    EXPECT_EQ(use_of(read_chat_tools, tools_with(chat_tool, field)).use.choice, choice);
    EXPECT_EQ(use_of(read_response_tools, tools_with(response_tool, field)).use.choice, choice);
  }
  const ReadUse none = use_of(read_chat_tools, tools_with(chat_tool, R"(,"tool_choice":"none")"));
  EXPECT_FALSE(none.use.is_on());
  EXPECT_EQ(none.shown, "");
}

TEST(ToolUse, ThatIsChosenByName) {
  const auto chat =
      use_of(read_chat_tools, tools_with(chat_tool, R"(,"tool_choice":{"type":"function","function":{"name":"f"}})"));
  EXPECT_EQ(chat.use.choice, ToolChoice::named);
  EXPECT_EQ(chat.use.name, "f");
  EXPECT_EQ(use_of(read_response_tools, tools_with(response_tool, R"(,"tool_choice":{"type":"function","name":"f"})"))
                .use.name,
            "f");
  EXPECT_EQ(
      use_of(read_message_tools, tools_with(message_tool, R"(,"tool_choice":{"type":"tool","name":"f"})")).use.name,
      "f");
}

TEST(ToolUse, OfMessagesHasWordsOfItsOwn) {
  const auto choice_of = [](std::string_view choice) {
    return use_of(read_message_tools, tools_with(message_tool, R"(,"tool_choice":)" + std::string(choice))).use;
  };
  EXPECT_EQ(choice_of(R"({"type":"any"})").choice, ToolChoice::required);
  EXPECT_EQ(choice_of(R"({"type":"auto"})").choice, ToolChoice::automatic);
  EXPECT_EQ(choice_of(R"({"type":"none"})").choice, ToolChoice::none);
  EXPECT_FALSE(choice_of(R"({"type":"auto","disable_parallel_tool_use":true})").is_parallel);
  EXPECT_FALSE(use_of(read_chat_tools, tools_with(chat_tool, R"(,"parallel_tool_calls":false)")).use.is_parallel);
}

TEST(ToolUse, IsRefusedByName) {
  const struct {
    ReadTools read;
    std::string body;
    std::string_view expected;
  } wrong[] = {
      {read_chat_tools, R"({"tools":7})", "tools|"},
      {read_chat_tools, R"({"tools":[7]})", "tools[0]|"},
      {read_chat_tools, R"({"tools":[{"type":"custom","custom":{}}]})", "tools[0].type|a tool of type 'custom'"},
      {read_chat_tools, R"({"tools":[{"type":"function"}]})", "tools[0].function|"},
      {read_chat_tools, R"({"tools":[{"type":"function","function":{}}]})", "tools[0].function.name|"},
      {read_chat_tools, R"({"tools":[{"type":"function","function":{"name":"a b"}}]})", "tools[0].function.name|"},
      {read_chat_tools, R"({"tools":[{"type":"function","function":{"name":""}}]})", "tools[0].function.name|"},
      {read_chat_tools, tools_with(std::string(chat_tool) + "," + std::string(chat_tool)), "tools[1]|"},
      {read_chat_tools, R"({"tool_choice":"required"})", "tool_choice|tool_choice: expected tools"},
      {read_chat_tools, tools_with(chat_tool, R"(,"tool_choice":"any")"), "tool_choice|"},
      {read_chat_tools, tools_with(chat_tool, R"(,"tool_choice":{"type":"function","function":{"name":"g"}})"),
       "tool_choice|tool_choice: expected one of the tools, found 'g'"},
      {read_chat_tools, tools_with(chat_tool, R"(,"tool_choice":{"type":"allowed_tools"})"),
       "tool_choice|tool_choice of"},
      {read_response_tools, R"({"tools":[{"type":"web_search"}]})", "tools[0].type|a tool of type 'web_search'"},
      {read_message_tools, R"({"tools":[{"type":"bash_20250124","name":"bash"}]})", "tools[0].type|a tool of type"},
      {read_message_tools, R"({"tools":[{"name":"f"}]})", "tools[0].input_schema|"},
      {read_message_tools, tools_with(message_tool, R"(,"tool_choice":{"type":"all"})"), "tool_choice.type|"},
  };
  for (const auto& each : wrong) {
    const std::string error = use_of(each.read, each.body).error;
    EXPECT_TRUE(error.starts_with(each.expected)) << each.body << "\n" << error;
  }
}

}  // namespace
}  // namespace ingot::protocol
