#include "server/protocol/messages_answer.h"

#include "server/protocol/messages_request.h"
#include "server/protocol/test_answers.h"

namespace ingot::protocol {
namespace {

ChatRequest messages_request_of(std::string_view fields) {
  const std::string json = R"({"max_tokens":9,"messages":[{"role":"user","content":"Hi"}])" + std::string(fields) + "}";
  return read_messages_request(json_object(json), test_model).value();
}

GenerationCounts counts_so_far(std::int64_t generated) { return {.prompt = 10, .cached = 6, .generated = generated}; }

std::string whole_of(GenerationEnding ending) {
  MessagesAnswer answer(test_head(), messages_request_of(""));
  EXPECT_EQ(answer.on_token(0, {.token = 'a', .text = "A\"", .counts = counts_so_far(1)}), "");
  EXPECT_EQ(answer.on_end(0, ending), "");
  EXPECT_TRUE(answer.is_complete());
  return answer.whole();
}

std::string ended(std::string_view reason, std::string_view sequence) {
  return R"({"id":"id-1","type":"message","role":"assistant","model":"m\"1","content":[{"type":"text","text":"A\"z"}],)"
         R"("stop_reason":")" +
         std::string(reason) + R"(","stop_sequence":)" + std::string(sequence) +
         R"(,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":6,"output_tokens":4}})";
}

TEST(MessagesAnswer, IsAMessageWithTheReasonOfItsEnd) {
  EXPECT_EQ(whole_of(test_ending(GenerationEnd::model, "z")), ended("end_turn", "null"));
  EXPECT_EQ(whole_of(test_ending(GenerationEnd::token_limit, "z")), ended("max_tokens", "null"));
  GenerationEnding stopped = test_ending(GenerationEnd::stop, "z");
  stopped.stop = "end";
  EXPECT_EQ(whole_of(stopped), ended("stop_sequence", "\"end\""));
}

TEST(MessagesAnswer, StreamsNamedEvents) {
  MessagesAnswer answer(test_head(), messages_request_of(R"(,"stream":true)"));
  EXPECT_EQ(answer.on_token(0, {.token = 'a', .text = "A\n", .counts = counts_so_far(1)}),
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"id-1\",\"type\":\"message\","
            "\"role\":\"assistant\",\"model\":\"m\\\"1\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
            "\"usage\":{\"input_tokens\":4,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":6,"
            "\"output_tokens\":1}}}\n\n"
            "event: ping\ndata: {\"type\":\"ping\"}\n\n"
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
            "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"A\\n\"}}\n\n");
  // A character that is not complete yet.
  EXPECT_EQ(answer.on_token(0, {.token = 'b', .text = "", .counts = counts_so_far(2)}), "");
  EXPECT_EQ(answer.on_end(0, test_ending(GenerationEnd::model, "")),
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
            "\"stop_sequence\":null},\"usage\":{\"input_tokens\":4,\"cache_creation_input_tokens\":0,"
            "\"cache_read_input_tokens\":6,\"output_tokens\":4}}\n\n"
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
  EXPECT_TRUE(answer.is_complete());
}

TEST(MessagesAnswer, OfNothingHasAnEmptyText) {
  MessagesAnswer answer(test_head(), messages_request_of(""));
  (void)answer.on_end(0, test_ending(GenerationEnd::model, ""));
  EXPECT_EQ(at(json_value(answer.whole()), "content"), R"([{"type":"text","text":""}])");
}

TEST(MessagesAnswer, TellsErrorsInItsOwnForm) {
  MessagesAnswer answer(test_head(), messages_request_of(R"(,"stream":true)"));
  (void)answer.on_token(0, {.token = 'a', .text = "A"});
  EXPECT_EQ(answer.on_error(http_error(500, "broken")),
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"broken\"}}\n\n");
  EXPECT_TRUE(answer.is_complete());
}

TEST(MessagesAnswer, HasBlocksOfThoughtsWordsAndCalls) {
  MessagesAnswer answer(test_head(), messages_request_of(""), test_reading());
  for (const std::string_view text : test_thoughts_and_calls) EXPECT_EQ(answer.on_token(0, {.text = text}), "");
  (void)answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value whole = json_value(answer.whole());
  EXPECT_EQ(at(whole, "content.0"), R"({"type":"thinking","thinking":"hm","signature":""})");
  EXPECT_EQ(at(whole, "content.1"), R"({"type":"text","text":"Yes."})");
  EXPECT_EQ(at(whole, "content.2"),
            R"({"type":"tool_use","id":")" + call_id("id-1", 0, 0) + R"(","name":"f","input":{"a":1}})");
  EXPECT_EQ(at(whole, "content.3"),
            R"({"type":"tool_use","id":")" + call_id("id-1", 0, 1) + R"(","name":"f","input":{}})");
  EXPECT_EQ(at(whole, "stop_reason"), "\"tool_use\"");
}

TEST(MessagesAnswer, StreamsBlocksOfThoughtsWordsAndCalls) {
  MessagesAnswer answer(test_head(), messages_request_of(R"(,"stream":true)"), test_reading());
  std::string stream;
  for (const std::string_view text : test_thoughts_and_calls) stream += answer.on_token(0, {.text = text});
  stream += answer.on_end(0, test_ending(GenerationEnd::model, ""));
  std::string told;  // what each event says, in short
  std::string input;
  for (std::size_t place = 0; (place = stream.find("data: ", place)) != std::string::npos; ++place) {
    const chat::Value event = json_value(stream.substr(place + 6, stream.find("\n\n", place) - place - 6));
    const std::string type = at(event, "type"), delta = at(event, "delta.type"),
                      block = at(event, "content_block.type");
    const std::string& word = delta != "absent" ? delta : block != "absent" ? block : type;
    if (delta == "\"input_json_delta\"") {
      const std::string more = at(event, "delta.partial_json");
      input += more.substr(1, more.size() - 2);
    }
    if (!told.ends_with(word + " ")) told += word + " ";
    if (block == "\"tool_use\"") {
      EXPECT_EQ(at(event, "content_block.input"), "{}");
    }
  }
  EXPECT_EQ(told, R"("message_start" "ping" "thinking" "thinking_delta" "signature_delta" "content_block_stop" )"
                  R"("text" "text_delta" "content_block_stop" "tool_use" "input_json_delta" "content_block_stop" )"
                  R"("tool_use" "input_json_delta" "content_block_stop" "message_delta" "message_stop" )");
  EXPECT_EQ(input, R"({\"a\":1}{})");
  EXPECT_NE(stream.find(R"("stop_reason":"tool_use")"), std::string::npos);
}

TEST(MessagesAnswer, ThatIsCutOffInACallIsWithoutIt) {
  const std::pair<GenerationEnd, std::string_view> ends[] = {{GenerationEnd::token_limit, "\"max_tokens\""},
                                                             {GenerationEnd::stop, "\"stop_sequence\""},
                                                             {GenerationEnd::model, "\"end_turn\""}};
  for (const auto& [end, reason] : ends) {
    MessagesAnswer answer(test_head(), messages_request_of(""), test_reading());
    for (const std::string_view text : test_broken_call) (void)answer.on_token(0, {.text = text});
    GenerationEnding ending = test_ending(end, "");
    if (end == GenerationEnd::stop) ending.stop = "\"a\"";
    (void)answer.on_end(0, ending);
    const chat::Value whole = json_value(answer.whole());
    EXPECT_EQ(at(whole, "content.1.type"), "\"text\"");
    EXPECT_EQ(at(whole, "content.2"), "absent");
    EXPECT_EQ(at(whole, "stop_reason"), reason);
  }
}

TEST(MessagesAnswer, ThatBreaksOffInACallDoesNotSayThatItCalls) {
  MessagesAnswer answer(test_head(), messages_request_of(R"(,"stream":true)"), test_reading());
  for (const std::string_view text : test_broken_call) (void)answer.on_token(0, {.text = text});
  const std::string_view end = answer.on_end(0, test_ending(GenerationEnd::model, ""));
  EXPECT_NE(end.find(R"("stop_reason":"end_turn")"), std::string_view::npos) << end;
}

}  // namespace
}  // namespace ingot::protocol
