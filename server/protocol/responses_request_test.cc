#include "server/protocol/responses_request.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

Outcome<ResponsesRequest> response_read_of(std::string_view input, std::string_view fields = "") {
  return read_responses_request(json_object(R"({"input":)" + std::string(input) + std::string(fields) + "}"),
                                test_model);
}

std::string input_of(std::string_view input, std::string_view fields = "") {
  const auto read = response_read_of(input, fields);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? json_of(chat::Value::list(read.value().asked.chat.messages)) : "";
}

TEST(ResponsesRequest, TakesATextOrMessages) {
  EXPECT_EQ(input_of(R"("Hi")", R"(,"instructions":"S")"),
            R"([{"role":"system","content":"S"},{"role":"user","content":"Hi"}])");
  EXPECT_EQ(input_of(R"([{"role":"developer","content":"D"},{"type":"message","role":"user","content":[)"
                     R"({"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},)"
                     R"({"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[)"
                     R"({"type":"output_text","text":"c","annotations":[],"logprobs":[]}]},)"
                     R"({"role":"user","content":"d"},{"role":"user","content":"e"}])"),
            R"([{"role":"system","content":"D"},{"role":"user","content":"a\nb"},{"role":"assistant","content":"c"},)"
            R"({"role":"user","content":"d"},{"role":"user","content":"e"}])");
}

TEST(ResponsesRequest, JoinsThoughtsWordsAndCallsUntilSomebodyElseSpeaks) {
  EXPECT_EQ(
      input_of(R"([{"role":"user","content":"A"},)"
               R"({"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},)"
               R"({"type":"function_call","id":"fc_1","call_id":"1","name":"f","arguments":"{\"a\":1}"},)"
               R"({"type":"function_call","call_id":"2","name":"g","arguments":"no JSON"},)"
               R"({"type":"function_call_output","call_id":"2","output":"r"},)"
               R"({"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"s"}]},)"
               R"({"type":"reasoning","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":null},)"
               R"({"role":"assistant","content":"B"}])"),
      R"([{"role":"user","content":"A"},{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[)"
      R"({"id":"1","type":"function","function":{"name":"f","arguments":{"a":1}}},)"
      R"({"id":"2","type":"function","function":{"name":"g","arguments":"no JSON"}}]},)"
      R"({"role":"tool","content":"r","name":"g","tool_call_id":"2"},)"
      R"({"role":"tool","content":"s","name":"f","tool_call_id":"1"},)"
      R"({"role":"assistant","content":"B","reasoning_content":"so"}])");
}

TEST(ResponsesRequest, TakesAsMuchMetadataAsOpenAiDoes) {
  const auto error = [](const std::string& metadata) {
    const auto read = response_read_of(R"("Hi")", ",\"metadata\":{" + metadata + "}");
    return read.ok() ? std::string("none") : read.error().param;
  };
  const auto pairs = [](int count) {
    std::string text;
    for (int number = 0; number < count; ++number) {
      text += (number == 0 ? "\"k" : ",\"k") + std::to_string(number) + "\":\"v\"";
    }
    return text;
  };
  EXPECT_EQ(error(pairs(16)), "none");
  EXPECT_EQ(error(pairs(17)), "metadata");
  EXPECT_EQ(error('"' + std::string(64, 'n') + "\":\"" + std::string(512, 'v') + '"'), "none");
  EXPECT_EQ(error('"' + std::string(65, 'n') + "\":\"v\""), "metadata");
  EXPECT_EQ(error("\"n\":\"" + std::string(513, 'v') + '"'), "metadata");
  EXPECT_EQ(error("\"n\":1"), "metadata");
}

TEST(ResponsesRequest, ReadsHowToAnswer) {
  const auto read = response_read_of(
      R"("Hi")",
      R"(,"model":"m","max_output_tokens":7,"temperature":0.5,"top_p":0.25,"stream":true,"store":false,)"
      R"("metadata":{"a":"b"},"truncation":"disabled","text":{"format":{"type":"text"},"verbosity":"medium"},)"
      R"("reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],)"
      R"("parallel_tool_calls":false,"background":false,"user":"u","service_tier":"auto","top_logprobs":0)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const GenerationRequest& generation = read.value().asked.generation;
  EXPECT_EQ(generation.most_tokens, 7);
  EXPECT_EQ(generation.text.sampling.temperature, 0.5);
  EXPECT_TRUE(generation.is_streamed);
  EXPECT_FALSE(read.value().asked.tools.is_parallel);
  EXPECT_EQ(json_of(read.value().echo.metadata), R"({"a":"b"})");
  ASSERT_EQ(read.value().asked.chat.variables.size(), 1u);
  EXPECT_EQ(read.value().asked.chat.variables[0].first, "reasoning_effort");
  // No effort is no thought.
  EXPECT_EQ(response_read_of(R"("Hi")", R"(,"reasoning":{"effort":"none"})").value().asked.chat.variables.size(), 3u);
}

TEST(ResponsesRequest, RefusesByName) {
  const struct {
    std::string_view input, fields, expected;
  } wrong[] = {
      {"7", "", "input|input: expected a text or a list"},
      {"[]", "", "input|"},
      {"null", "", "input|"},
      {"[7]", "", "input[0]|input[0]: expected an object"},
      {R"([{"role":"tool","content":"x"}])", "", "input[0].role|"},
      {R"([{"role":"user"}])", "", "input[0].content|"},
      {R"([{"role":"user","content":[{"type":"input_image"}]}])", "", "input[0].content[0]|a part of type"},
      {R"([{"type":"item_reference","id":"x"}])", "", "input[0]|an item of type 'item_reference'"},
      {R"([{"type":"web_search_call"}])", "", "input[0]|an item of type 'web_search_call'"},
      {R"([{"type":"function_call","name":"f","arguments":"{}"}])", "", "input[0].call_id|"},
      {R"("x")", R"(,"previous_response_id":"r")", "previous_response_id|previous_response_id is not served"},
      {R"("x")", R"(,"conversation":"c")", "conversation|"},
      {R"("x")", R"(,"background":true)", "background|background of true"},
      {R"("x")", R"(,"store":true)", "store|store of true"},
      {R"("x")", R"(,"prompt":{"id":"p"})", "prompt|"},
      {R"("x")", R"(,"truncation":"auto")", "truncation|"},
      {R"("x")", R"(,"top_logprobs":2)", "top_logprobs|"},
      {R"("x")", R"(,"include":["message.output_text.logprobs"])", "include|"},
      {R"("x")", R"(,"reasoning":{"effort":"much"})", "reasoning.effort|"},
      {R"("x")", R"(,"text":{"verbosity":"low"})", "text.verbosity|"},
      {R"("x")", R"(,"text":{"format":{}})", "text.format.type|"},
      {R"("x")", R"(,"max_output_tokens":0)", "max_output_tokens|"},
      {R"("x")", R"(,"n":2)", "n|"},
      {R"("x")", R"(,"max_tokens":2)", "max_tokens|unknown field 'max_tokens'"},
  };
  for (const auto& each : wrong) {
    const auto read = response_read_of(each.input, each.fields);
    ASSERT_FALSE(read.ok()) << each.input << each.fields;
    const std::string found = read.error().param + "|" + read.error().message;
    EXPECT_TRUE(found.starts_with(each.expected)) << each.input << each.fields << "\n" << found;
  }
}

}  // namespace
}  // namespace ingot::protocol
