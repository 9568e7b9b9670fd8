#include "server/protocol/messages_request.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

std::string messages_body_of(std::string_view messages, std::string_view fields = "") {
  return R"({"max_tokens":5,"messages":)" + std::string(messages) + std::string(fields) + "}";
}

constexpr std::string_view hello = R"([{"role":"user","content":"Hi"}])";

std::string messages_of(std::string_view messages, std::string_view fields = "") {
  const auto read = read_messages_request(json_object(messages_body_of(messages, fields)), test_model);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? json_of(chat::Value::list(read.value().chat.messages)) : "";
}

std::string messages_error_of(std::string_view body) {
  const auto read = read_messages_request(json_object(body), test_model);
  EXPECT_FALSE(read.ok()) << body;
  return read.ok() ? "" : read.error().param + "|" + read.error().message;
}

TEST(MessagesRequest, MakesAChatOfSystemAndTurns) {
  EXPECT_EQ(messages_of(R"([{"role":"user","content":"A"},{"role":"assistant","content":[{"type":"text","text":"B"}]},)"
                        R"({"role":"user","content":[{"type":"text","text":"C","cache_control":{"type":"ephemeral"}},)"
                        R"({"type":"text","text":"D"}]}])",
                        R"(,"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}])"),
            R"([{"role":"system","content":"S\nT"},{"role":"user","content":"A"},)"
            R"({"role":"assistant","content":"B"},{"role":"user","content":"C\nD"}])");
  EXPECT_EQ(messages_of(hello, R"(,"system":"S")"),
            R"([{"role":"system","content":"S"},{"role":"user","content":"Hi"}])");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":"A"},{"role":"user","content":"B"}])"),
            R"([{"role":"user","content":"A\nB"}])");
}

TEST(MessagesRequest, KnowsThoughtsCallsAndTheirResults) {
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":"A"},{"role":"assistant","content":[)"
                  R"({"type":"thinking","thinking":"hm","signature":"x"},{"type":"redacted_thinking","data":"y"},)"
                  R"({"type":"text","text":"B"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}},)"
                  R"({"type":"tool_use","id":"2","name":"g","input":{}}]},{"role":"user","content":[)"
                  R"({"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"r"}]},)"
                  R"({"type":"tool_result","tool_use_id":"1","is_error":true},{"type":"text","text":"C"}]}])"),
      R"([{"role":"user","content":"A"},{"role":"assistant","content":"B","reasoning_content":"hm","tool_calls":[)"
      R"({"id":"1","type":"function","function":{"name":"f","arguments":{"a":1}}},)"
      R"({"id":"2","type":"function","function":{"name":"g","arguments":{}}}]},)"
      R"({"role":"tool","content":"r","name":"g","tool_call_id":"2"},)"
      R"({"role":"tool","content":"","name":"f","tool_call_id":"1"},{"role":"user","content":"C"}])");
}

TEST(MessagesRequest, GoesOnFromWordsOfTheAssistant) {
  const auto read = read_messages_request(
      json_object(messages_body_of(R"([{"role":"user","content":"A"},{"role":"assistant","content":"B"}])")),
      test_model);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().chat.answer_begin, "B");
  EXPECT_EQ(read.value().chat.messages.size(), 1u);
  EXPECT_NE(messages_error_of(messages_body_of(R"([{"role":"assistant","content":"B"}])")), "");
}

TEST(MessagesRequest, ReadsHowToAnswer) {
  const auto read = read_messages_request(
      json_object(messages_body_of(
          hello, R"(,"temperature":0.5,"top_p":0.25,"top_k":7,"stop_sequences":["x","y"],"stream":true,)"
                 R"("seed":3,"model":"m","metadata":{"user_id":"u"},"service_tier":"auto")")),
      test_model);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const GenerationRequest& generation = read.value().generation;
  EXPECT_EQ(generation.most_tokens, 5);
  EXPECT_EQ(generation.text.sampling.temperature, 0.5);
  EXPECT_EQ(generation.text.sampling.top_p, 0.25);
  EXPECT_EQ(generation.text.sampling.top_k, 7);
  EXPECT_EQ(generation.text.stops, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(generation.is_streamed);
  EXPECT_EQ(generation.seed, 3u);
}

TEST(MessagesRequest, SwitchesThinking) {
  const auto variables = [](std::string_view fields) {
    const auto read = read_messages_request(json_object(messages_body_of(hello, fields)), test_model);
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    std::string told;
    if (!read.ok()) return told;
    for (const auto& [name, value] : read.value().chat.variables) told += name + "=" + json_of(value) + " ";
    return told;
  };
  EXPECT_EQ(variables(R"(,"thinking":{"type":"enabled","budget_tokens":1024})"), "enable_thinking=true thinking=true ");
  EXPECT_EQ(variables(R"(,"thinking":{"type":"disabled"})"), "enable_thinking=false thinking=false ");
  EXPECT_EQ(variables(R"(,"thinking":{"type":"adaptive"})"), "");
  EXPECT_EQ(variables(R"(,"output_config":{"effort":"high"})"), "reasoning_effort=\"high\" ");
  EXPECT_EQ(variables(R"(,"thinking":{"type":"enabled"},"chat_template_kwargs":{"thinking":false})"),
            "enable_thinking=true thinking=true thinking=false ");
}

TEST(MessagesRequest, RefusesByName) {
  const std::pair<std::string, std::string_view> wrong[] = {
      {R"({"messages":[{"role":"user","content":"A"}]})", "max_tokens|"},
      {R"({"max_tokens":5})", "messages|"},
      {messages_body_of("[]"), "messages|"},
      {messages_body_of(R"([{"role":"system","content":"A"}])"), "messages[0].role|"},
      {messages_body_of(R"([{"role":"user","content":[]}])"), "messages[0].content|"},
      {messages_body_of(R"([{"role":"user","content":"A","name":"x"}])"), "messages[0].name|"},
      {messages_body_of(R"([{"role":"user","content":[{"type":"image","source":{}}]}])"),
       "messages[0].content[0]|a block of"},
      {messages_body_of(R"([{"role":"user","content":[{"type":"document","source":{}}]}])"),
       "messages[0].content[0]|a block"},
      {messages_body_of(R"([{"role":"user","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}])"),
       "messages[0].content[0]|a block of type 'tool_use' of the user"},
      {messages_body_of(R"([{"role":"user","content":[{"type":"tool_result","content":"x"}]}])"),
       "messages[0].content[0].tool_use_id|"},
      {messages_body_of(
           R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"image"}]}]}])"),
       "messages[0].content[0].content[0]|a part of type 'image'"},
      {messages_body_of(hello, R"(,"thinking":{"type":"sometimes"})"), "thinking.type|"},
      {messages_body_of(hello, R"(,"container":"c")"), "container|container is not served"},
      {messages_body_of(hello, R"(,"mcp_servers":[{}])"), "mcp_servers|mcp_servers is not served"},
      {messages_body_of(hello, R"(,"n":2)"), "n|n other than 1"},
      {messages_body_of(hello, R"(,"return_progress":true)"), "return_progress|return_progress of true"},
      {messages_body_of(hello, R"(,"stop_sequences":[""])"), "stop_sequences[0]|"},
      {messages_body_of(hello, R"(,"max_token":2)"), "max_token|unknown field 'max_token': is 'max_tokens' meant?"},
  };
  for (const auto& [body, expected] : wrong) {
    const std::string found = messages_error_of(body);
    EXPECT_TRUE(found.starts_with(expected)) << body << "\n" << found;
  }
}

TEST(MessagesRequest, CountsWithoutALength) {
  EXPECT_TRUE(read_count_request(json_object(R"({"model":"m","messages":[{"role":"user","content":"A"}]})")).ok());
  const auto read = read_count_request(json_object(messages_body_of(hello)));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().param, "max_tokens");
}

}  // namespace
}  // namespace ingot::protocol
