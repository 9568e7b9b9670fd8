#include "server/protocol/responses_answer.h"

#include "server/protocol/test_answers.h"

namespace ingot::protocol {
namespace {

ResponsesRequest response_request_of(std::string_view fields) {
  return read_responses_request(json_object(R"({"input":"Hi")" + std::string(fields) + "}"), test_model).value();
}

AnswerHead response_head() { return {.id = "resp_7", .model = "m\"1", .fingerprint = "fp", .created = 12}; }

constexpr std::string_view response_echo =
    R"("instructions":null,"max_output_tokens":null,"metadata":{},"background":false,"store":false,)"
    R"("previous_response_id":null,"parallel_tool_calls":true,"tools":[],"tool_choice":"auto","temperature":1,"top_p":1,)"
    R"("text":{"format":{"type":"text"}},"reasoning":{"effort":null,"summary":null},"truncation":"disabled",)";

std::string response_of(std::string_view status, std::string_view incomplete, std::string_view output,
                        std::string_view response_usage) {
  return R"({"id":"resp_7","object":"response","created_at":12,"status":")" + std::string(status) +
         R"(","model":"m\"1","error":null,"incomplete_details":)" + std::string(incomplete) + "," +
         std::string(response_echo) + R"("output":[)" + std::string(output) + R"(],"usage":)" +
         std::string(response_usage) + "}";
}

constexpr std::string_view response_usage =
    R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":6,"cache_write_tokens":0},"output_tokens":4,)"
    R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":14})";

std::string message_of(std::string_view text, std::string_view status) {
  return R"({"id":"msg_7_0","type":"message","role":"assistant","content":[{"type":"output_text","text":")" +
         std::string(text) + R"(","annotations":[],"logprobs":[]}],"status":")" + std::string(status) + "\"}";
}

TEST(ResponsesAnswer, IsAResponseOfOneMessage) {
  ResponsesAnswer answer(response_head(), response_request_of(""));
  EXPECT_EQ(answer.on_token(0, {.token = 'a', .text = "A"}), "");
  EXPECT_EQ(answer.on_end(0, test_ending(GenerationEnd::model, "z")), "");
  EXPECT_EQ(answer.whole(), response_of("completed", "null", message_of("Az", "completed"), response_usage));
}

TEST(ResponsesAnswer, SaysThatItIsIncomplete) {
  ResponsesAnswer answer(response_head(), response_request_of(""));
  (void)answer.on_end(0, test_ending(GenerationEnd::token_limit, "z"));
  EXPECT_EQ(answer.whole(), response_of("incomplete", R"({"reason":"max_output_tokens"})",
                                        message_of("z", "incomplete"), response_usage));
}

TEST(ResponsesAnswer, RepeatsItsRequest) {
  ResponsesAnswer answer(response_head(),
                         response_request_of(R"(,"instructions":"S","metadata":{"a":"b"},"max_output_tokens":9,)"
                                             R"("reasoning":{"effort":"low"},"temperature":0.5)"));
  (void)answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value whole = json_value(answer.whole());
  EXPECT_EQ(at(whole, "instructions"), "\"S\"");
  EXPECT_EQ(at(whole, "metadata"), R"({"a":"b"})");
  EXPECT_EQ(at(whole, "max_output_tokens"), "9");
  EXPECT_EQ(at(whole, "reasoning.effort"), "\"low\"");
  EXPECT_EQ(at(whole, "temperature"), "0.5");
  EXPECT_EQ(at(whole, "output.0.content.0.text"), "\"\"");
}

std::string event_of(std::string_view type, int number, std::string_view fields) {
  return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) +
         "\",\"sequence_number\":" + std::to_string(number) + "," + std::string(fields) + "}\n\n";
}

TEST(ResponsesAnswer, StreamsNumberedEvents) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true)"));
  const std::string begun = "\"response\":" + response_of("in_progress", "null", "", "null");
  const std::string place = R"("item_id":"msg_7_0","output_index":0,"content_index":0,)";
  EXPECT_EQ(answer.on_token(0, {.token = 'a', .text = "A"}),
            event_of("response.created", 0, begun) + event_of("response.in_progress", 1, begun) +
                event_of("response.output_item.added", 2,
                         R"("output_index":0,"item":{"id":"msg_7_0","type":"message","role":"assistant","content":[],)"
                         R"("status":"in_progress"})") +
                event_of("response.content_part.added", 3,
                         place + R"("part":{"type":"output_text","text":"","annotations":[],"logprobs":[]})") +
                event_of("response.output_text.delta", 4, place + R"("delta":"A","logprobs":[])"));
  EXPECT_EQ(
      answer.on_end(0, test_ending(GenerationEnd::model, "z")),
      event_of("response.output_text.delta", 5, place + R"("delta":"z","logprobs":[])") +
          event_of("response.output_text.done", 6, place + R"("text":"Az","logprobs":[])") +
          event_of("response.content_part.done", 7,
                   place + R"("part":{"type":"output_text","text":"Az","annotations":[],"logprobs":[]})") +
          event_of("response.output_item.done", 8, R"("output_index":0,"item":)" + message_of("Az", "completed")) +
          event_of("response.completed", 9,
                   "\"response\":" + response_of("completed", "null", message_of("Az", "completed"), response_usage)));
}

TEST(ResponsesAnswer, TellsTimingsWithEveryPieceWhereTheyAreWanted) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true,"timings_per_token":true)"));
  const std::string first(answer.on_token(0, {.token = 'a', .text = "A"}));
  EXPECT_NE(first.find(R"("delta":"A","logprobs":[],"timings":{"cache_n":)"), std::string::npos) << first;
  const std::string last(answer.on_end(0, test_ending(GenerationEnd::model, "")));
  EXPECT_TRUE(last.ends_with(test_timings() + "}\n\n")) << last;
}

TEST(ResponsesAnswer, TellsThatItFailed) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true)"));
  const std::string piece(answer.on_error(http_error(500, "broken")));
  const std::size_t last = piece.rfind("event: ");
  EXPECT_TRUE(piece.starts_with("event: response.created\n"));
  EXPECT_TRUE(piece.substr(last).starts_with("event: response.failed\n")) << piece;
  const chat::Value failed = json_value(piece.substr(piece.rfind("data: ") + 6));
  EXPECT_EQ(at(failed, "response.status"), "\"failed\"");
  EXPECT_EQ(at(failed, "response.error"), R"({"code":"server_error","message":"broken"})");
}

TEST(ResponsesAnswer, HasItemsOfThoughtsWordsAndCalls) {
  ResponsesAnswer answer(response_head(), response_request_of(""), test_reading());
  for (const std::string_view text : test_thoughts_and_calls) EXPECT_EQ(answer.on_token(0, {.text = text}), "");
  (void)answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value whole = json_value(answer.whole());
  EXPECT_EQ(at(whole, "output.0"),
            R"({"id":"rs_7_0","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],)"
            R"("status":"completed"})");
  EXPECT_EQ(at(whole, "output.1.content.0.text"), "\"Yes.\"");
  EXPECT_EQ(at(whole, "output.2"), R"({"id":"fc_7_2","type":"function_call","call_id":")" + call_id("resp_7", 0, 0) +
                                       R"(","name":"f","arguments":"{\"a\":1}","status":"completed"})");
  EXPECT_EQ(at(whole, "output.3.arguments"), "\"{}\"");
  EXPECT_EQ(at(whole, "usage.output_tokens_details.reasoning_tokens"), "1");
}

TEST(ResponsesAnswer, ThatBreaksOffInACallIsIncomplete) {
  ResponsesAnswer answer(response_head(), response_request_of(""), test_reading());
  for (const std::string_view text : test_broken_call) (void)answer.on_token(0, {.text = text});
  (void)answer.on_end(0, test_ending(GenerationEnd::stop, ""));
  const chat::Value whole = json_value(answer.whole());
  EXPECT_EQ(at(whole, "status"), "\"incomplete\"");
  EXPECT_EQ(at(whole, "incomplete_details"), "null");
  EXPECT_EQ(at(whole, "output.1.status"), "\"completed\"");
  EXPECT_EQ(at(whole, "output.2.status"), "\"incomplete\"");
}

TEST(ResponsesAnswer, StreamsThatACallBrokeOff) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true)"), test_reading());
  for (const std::string_view text : test_broken_call) (void)answer.on_token(0, {.text = text});
  const std::string end(answer.on_end(0, test_ending(GenerationEnd::stop, "")));
  EXPECT_NE(end.find("event: response.incomplete\n"), std::string::npos) << end;
  const std::size_t done = end.find("data: ", end.find("event: response.output_item.done\n"));
  ASSERT_NE(done, std::string::npos) << end;
  const chat::Value event = json_value(end.substr(done + 6, end.find("\n\n", done) - done - 6));
  EXPECT_EQ(at(event, "item.type"), "\"function_call\"");
  EXPECT_EQ(at(event, "item.status"), "\"incomplete\"");
}

TEST(ResponsesAnswer, StreamsItemsOfThoughtsWordsAndCalls) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true)"), test_reading());
  std::string stream;
  for (const std::string_view text : test_thoughts_and_calls) stream += answer.on_token(0, {.text = text});
  stream += answer.on_end(0, test_ending(GenerationEnd::model, ""));
  std::string told;
  std::int64_t number = 0;
  for (std::size_t place = 0; (place = stream.find("data: ", place)) != std::string::npos; ++place) {
    const chat::Value event = json_value(stream.substr(place + 6, stream.find("\n\n", place) - place - 6));
    EXPECT_EQ(at(event, "sequence_number"), std::to_string(number++));
    const std::string type = at(event, "type");
    const std::string word = type.substr(10, type.size() - 11);
    if (!told.ends_with(word + " ")) told += word + " ";
    if (word == "function_call_arguments.done" && at(event, "output_index") == "2") {
      EXPECT_EQ(at(event, "arguments"), R"("{\"a\":1}")");
      EXPECT_EQ(at(event, "name"), "\"f\"");
      EXPECT_EQ(at(event, "content_index"), "absent");
    }
  }
  const std::string call =
      "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done ";
  EXPECT_EQ(told,
            "created in_progress output_item.added content_part.added reasoning_text.delta reasoning_text.done "
            "content_part.done output_item.done output_item.added content_part.added output_text.delta "
            "output_text.done content_part.done output_item.done " +
                call + call + "completed ");
}

TEST(ResponsesAnswer, TellsHowFarThePromptIsWhileItIsInProgress) {
  ResponsesAnswer answer(response_head(), response_request_of(R"(,"stream":true,"return_progress":true)"));
  const std::string running = R"("response":)" + response_of("in_progress", "null", "", "null");
  const auto event = [&](std::string_view type, int number, std::string_view behind) {
    return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) +
           "\",\"sequence_number\":" + std::to_string(number) + "," + running + std::string(behind) + "}\n\n";
  };
  const std::string behind = "," + std::string(progress_of_test);
  EXPECT_EQ(answer.on_progress(0, test_progress()), event("response.created", 0, "") +
                                                        event("response.in_progress", 1, "") +
                                                        event("response.in_progress", 2, behind));
  EXPECT_EQ(answer.on_progress(0, test_progress()), event("response.in_progress", 3, behind));
}

}  // namespace
}  // namespace ingot::protocol
