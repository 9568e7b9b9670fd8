#include "server/protocol/chat_answer.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "server/protocol/test_answers.h"

namespace ingot::protocol {
namespace {

ChatRequest chat_request_of(std::string_view fields) {
  const std::string json = R"({"messages":[{"role":"user","content":"Hi"}])" + std::string(fields) + "}";
  return read_chat_request(json_object(json), test_model).value();
}

struct Chat {
  explicit Chat(std::string_view fields, const AnswerReading& reading = {})
      : answer(test_head(), chat_request_of(fields), tokenizer, reading) {}
  Tokenizer tokenizer = test_tokenizer();
  ChatAnswer answer;
};

constexpr std::string_view stream_head =
    R"("id":"id-1","object":"chat.completion.chunk","created":12,"model":"m\"1","system_fingerprint":"fp",)";

std::string chunk_of(std::string_view choice, std::string_view behind = "") {
  return "data: {" + std::string(stream_head) + "\"choices\":[{" + std::string(choice) + "}]" + std::string(behind) +
         "}\n\n";
}

TEST(ChatAnswer, IsOneTextWhereItIsNotStreamed) {
  Chat chat("");
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = "Hel\""}), "");
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'b', .text = "lo"}), "");
  EXPECT_FALSE(chat.answer.is_complete());
  EXPECT_EQ(chat.answer.on_end(0, test_ending(GenerationEnd::model, "!")), "");
  ASSERT_TRUE(chat.answer.is_complete());
  EXPECT_EQ(chat.answer.whole(),
            R"({"id":"id-1","object":"chat.completion","created":12,"model":"m\"1","system_fingerprint":"fp",)"
            R"("choices":[{"index":0,"message":{"role":"assistant","content":"Hel\"lo!","refusal":null},)"
            R"("logprobs":null,"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,)"
            R"("prompt_tokens_details":{"cached_tokens":6}},)"
            R"("timings":{"cache_n":6,"prompt_n":4,"prompt_ms":500,"prompt_per_token_ms":125,"prompt_per_second":8,)"
            R"("predicted_n":4,"predicted_ms":1500,"predicted_per_token_ms":500,"predicted_per_second":2}})");
}

TEST(ChatAnswer, StreamsARoleThenTextsThenAReasonThenDone) {
  Chat chat(R"(,"stream":true)");
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = "A\n"}),
            chunk_of(R"("index":0,"delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null,)"
                     R"("finish_reason":null)") +
                chunk_of(R"("index":0,"delta":{"content":"A\n"},"logprobs":null,"finish_reason":null)"));
  // A character that is not complete yet.
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = ""}), "");
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = "\xC3\xA9"}),
            chunk_of("\"index\":0,\"delta\":{\"content\":\"\xC3\xA9\"},\"logprobs\":null,\"finish_reason\":null"));
  const std::string last(chat.answer.on_end(0, test_ending(GenerationEnd::token_limit, "z")));
  EXPECT_EQ(last, chunk_of(R"("index":0,"delta":{"content":"z"},"logprobs":null,"finish_reason":null)") +
                      chunk_of(R"("index":0,"delta":{},"logprobs":null,"finish_reason":"length")", test_timings()) +
                      "data: [DONE]\n\n");
  EXPECT_TRUE(chat.answer.is_complete());
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = "late"}), "");
  EXPECT_EQ(chat.answer.on_end(0, test_ending(GenerationEnd::model, "late")), "");
}

TEST(ChatAnswer, StreamsUsageInAChunkWithoutChoicesWhereAskedFor) {
  Chat chat(R"(,"stream":true,"stream_options":{"include_usage":true})");
  const Events first = events_of(chat.answer.on_token(0, {.token = 'a', .text = "A"}));
  ASSERT_EQ(first.chunks.size(), 2u);
  for (const chat::Value& chunk : first.chunks) EXPECT_EQ(at(chunk, "usage"), "null");
  const Events last = events_of(chat.answer.on_end(0, test_ending(GenerationEnd::stop, "")));
  ASSERT_EQ(last.chunks.size(), 2u);
  EXPECT_EQ(at(last.chunks[0], "choices.0.finish_reason"), "\"stop\"");
  EXPECT_EQ(at(last.chunks[0], "usage"), "null");
  EXPECT_EQ(at(last.chunks[0], "timings"), "absent");
  EXPECT_EQ(at(last.chunks[1], "choices"), "[]");
  EXPECT_EQ(at(last.chunks[1], "usage.total_tokens"), "14");
  EXPECT_EQ(at(last.chunks[1], "timings.prompt_n"), "4");
  EXPECT_TRUE(last.is_done);
}

TEST(ChatAnswer, TellsTimingsWithEachTextWhereAskedFor) {
  Chat chat(R"(,"stream":true,"timings_per_token":true)");
  const auto token_after = [](std::int64_t generated) {
    return ChosenToken{.token = 'a',
                       .text = "A",
                       .counts = {.prompt = 10, .cached = 6, .generated = generated},
                       .times = {.waiting = 1, .prompt = 0.5, .generation = 0.5 * static_cast<double>(generated - 1)}};
  };
  const Events first = events_of(chat.answer.on_token(0, token_after(1)));
  ASSERT_EQ(first.chunks.size(), 2u);
  EXPECT_EQ(at(first.chunks[0], "timings"), "absent");
  EXPECT_EQ(at(first.chunks[1], "timings.prompt_n"), "4");
  EXPECT_EQ(at(first.chunks[1], "timings.predicted_per_second"), "0");
  const Events third = events_of(chat.answer.on_token(0, token_after(3)));
  EXPECT_EQ(at(third.chunks[0], "timings.predicted_n"), "3");
  EXPECT_EQ(at(third.chunks[0], "timings.predicted_ms"), "1000");
  EXPECT_EQ(at(third.chunks[0], "timings.predicted_per_second"), "2");
}

TEST(ChatAnswer, TellsThePromptOnceWhereAskedFor) {
  const Tokenizer tokenizer = test_tokenizer();
  AnswerHead head = test_head();
  head.prompt = "<s>\"Hi\"";
  ChatAnswer whole(head, chat_request_of(""), tokenizer);
  whole.on_end(0, test_ending(GenerationEnd::model, "A"));
  EXPECT_EQ(at(json_value(whole.whole()), "__verbose"), R"({"prompt":"<s>\"Hi\""})");
  ChatAnswer stream(head, chat_request_of(R"(,"stream":true)"), tokenizer);
  std::string told(stream.on_token(0, {.token = 'a', .text = "A"}));
  told += stream.on_end(0, test_ending(GenerationEnd::model, ""));
  const Events events = events_of(told);
  ASSERT_EQ(events.chunks.size(), 3u);
  EXPECT_EQ(at(events.chunks[1], "__verbose"), "absent");
  EXPECT_EQ(at(events.chunks[2], "__verbose.prompt"), R"("<s>\"Hi\"")");
}

TEST(ChatAnswer, HasARoleEvenWhereNothingIsSaid) {
  Chat chat(R"(,"stream":true)");
  const Events events = events_of(chat.answer.on_end(0, test_ending(GenerationEnd::model, "")));
  ASSERT_EQ(events.chunks.size(), 2u);
  EXPECT_EQ(at(events.chunks[0], "choices.0.delta.role"), "\"assistant\"");
  EXPECT_EQ(at(events.chunks[1], "choices.0.finish_reason"), "\"stop\"");
}

TEST(ChatAnswer, HasChoicesByTheirIndex) {
  Chat chat(R"(,"stream":true,"n":2)");
  EXPECT_EQ(at(events_of(chat.answer.on_token(1, {.token = 'b', .text = "B"})).chunks[1], "choices.0.index"), "1");
  EXPECT_EQ(at(events_of(chat.answer.on_token(0, {.token = 'a', .text = "A"})).chunks[0], "choices.0.delta.role"),
            "\"assistant\"");
  EXPECT_FALSE(events_of(chat.answer.on_end(1, test_ending(GenerationEnd::model, ""))).is_done);
  EXPECT_FALSE(chat.answer.is_complete());
  EXPECT_TRUE(events_of(chat.answer.on_end(0, test_ending(GenerationEnd::model, ""))).is_done);

  Chat whole(R"(,"n":2)");
  whole.answer.on_token(1, {.token = 'b', .text = "B"});
  whole.answer.on_token(0, {.token = 'a', .text = "A"});
  GenerationEnding other = test_ending(GenerationEnd::token_limit, "");
  other.counts.cached = 10;
  other.times = {.waiting = 0, .prompt = 0.25, .generation = 4};
  whole.answer.on_end(1, other);
  whole.answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value answer = json_value(whole.answer.whole());
  EXPECT_EQ(at(answer, "choices.0.message.content"), "\"A\"");
  EXPECT_EQ(at(answer, "choices.1.message.content"), "\"B\"");
  EXPECT_EQ(at(answer, "choices.1.finish_reason"), "\"length\"");
  // The prompt counts once, by the first choice; what was generated counts twice.
  EXPECT_EQ(
      at(answer, "usage"),
      R"({"prompt_tokens":10,"completion_tokens":8,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":6}})");
  EXPECT_EQ(at(answer, "timings.predicted_ms"), "4000");
  EXPECT_EQ(at(answer, "timings.prompt_ms"), "500");
}

TEST(ChatAnswer, TellsProbabilities) {
  const Tokenizer tokenizer = test_tokenizer();
  const std::int32_t end = tokenizer.find("<|end|>");
  const std::vector<TokenProbability> likely = {{'h', -0.25f}, {0xe2, -std::numeric_limits<float>::infinity()}};
  constexpr std::string_view expected_first =
      R"({"token":"h","logprob":-0.25,"bytes":[104],"top_logprobs":[{"token":"h","logprob":-0.25,"bytes":[104]},)"
      R"({"token":"\\xe2","logprob":-9999,"bytes":[226]}]})";
  for (const bool is_streamed : {false, true}) {
    Chat chat(is_streamed ? R"(,"logprobs":true,"top_logprobs":2,"stream":true)"
                          : R"(,"logprobs":true,"top_logprobs":2)");
    const std::string first(
        chat.answer.on_token(0, {.token = 'h', .text = "h", .log_probability = -0.25f, .most_likely = likely}));
    const std::string second(chat.answer.on_token(0, {.token = end, .text = "", .log_probability = -3}));
    const std::string last(chat.answer.on_end(0, test_ending(GenerationEnd::model, "")));
    if (is_streamed) {
      std::string told = first;
      told.append(second).append(last);
      const Events events = events_of(told);
      ASSERT_EQ(events.chunks.size(), 4u);
      EXPECT_EQ(at(events.chunks[1], "choices.0.logprobs"),
                "{\"content\":[" + std::string(expected_first) + "],\"refusal\":null}");
      EXPECT_EQ(at(events.chunks[2], "choices.0.logprobs.content.0.token"), "\"<|end|>\"");
      EXPECT_EQ(at(events.chunks[2], "choices.0.delta.content"), "\"\"");
      EXPECT_EQ(at(events.chunks[3], "choices.0.logprobs"), "null");
    } else {
      const chat::Value whole = json_value(chat.answer.whole());
      EXPECT_EQ(at(whole, "choices.0.logprobs.content.0"), expected_first);
      EXPECT_EQ(at(whole, "choices.0.logprobs.content.1.logprob"), "-3");
      EXPECT_EQ(at(whole, "choices.0.logprobs.content.1.top_logprobs"), "[]");
      EXPECT_EQ(at(whole, "choices.0.logprobs.refusal"), "null");
    }
  }
}

TEST(ChatAnswer, EndsWithAnErrorWhereItIsNotWhole) {
  const std::pair<GenerationEnd, int> cases[] = {
      {GenerationEnd::deadline, 504}, {GenerationEnd::cancelled, 503}, {GenerationEnd::failed, 500}};
  const Error corrupt = Error::of(ErrorCode::corrupt, "no \"number\"");
  for (const auto& [end, status] : cases) {
    for (const bool has_begun : {false, true}) {
      Chat chat(R"(,"stream":true,"n":2)");
      if (has_begun) chat.answer.on_token(0, {.token = 'a', .text = "A"});
      GenerationEnding ending = test_ending(end, "rest");
      ending.error = &corrupt;
      const Events events = events_of(chat.answer.on_end(0, ending));
      ASSERT_EQ(events.chunks.size(), 1u);
      EXPECT_NE(at(events.chunks[0], "error.message"), "absent");
      EXPECT_FALSE(events.is_done);
      ASSERT_TRUE(chat.answer.is_complete());
      EXPECT_EQ(chat.answer.error()->status, status);
      EXPECT_EQ(chat.answer.on_token(1, {.token = 'a', .text = "late"}), "");
      EXPECT_EQ(chat.answer.on_end(1, ending), "");
    }
    Chat whole("");
    EXPECT_EQ(whole.answer.on_end(0, test_ending(end, "")), "");
    ASSERT_TRUE(whole.answer.is_complete());
    EXPECT_EQ(whole.answer.error()->status, status);
  }
}

TEST(ChatAnswer, MayBeAskedForAgainWhereMemoryWasShort) {
  Chat chat("");
  const Error no_memory = Error::of(ErrorCode::out_of_memory, "no \"memory\"");
  GenerationEnding ending = test_ending(GenerationEnd::failed, "");
  ending.error = &no_memory;
  chat.answer.on_end(0, ending);
  EXPECT_EQ(chat.answer.error()->status, 503);
  EXPECT_NE(chat.answer.error()->message.find("no \"memory\""), std::string::npos);
}

// From the first token on there is no time that an answer of one takes.
TEST(ChatAnswer, HasNoPaceOfOneToken) {
  Chat chat(R"(,"n":2)");
  GenerationEnding ending = test_ending(GenerationEnd::token_limit, "");
  ending.counts.generated = 1;
  ending.times.generation = 1e-6;
  for (const std::int64_t choice : {0, 1}) chat.answer.on_end(choice, ending);
  const chat::Value answer = json_value(chat.answer.whole());
  EXPECT_EQ(at(answer, "timings.predicted_n"), "2");
  EXPECT_EQ(at(answer, "timings.predicted_per_second"), "0");
  EXPECT_EQ(at(answer, "timings.predicted_per_token_ms"), "0");
}

TEST(ChatAnswer, EndsForReasonsOfOthers) {
  Chat chat(R"(,"stream":true)");
  const Events events = events_of(chat.answer.on_error(unavailable("draining", 5)));
  ASSERT_EQ(events.chunks.size(), 1u);
  EXPECT_EQ(at(events.chunks[0], "error.message"), "\"draining\"");
  EXPECT_EQ(chat.answer.on_error(unavailable("again", 5)), "");
}

TEST(ChatAnswer, IsJsonWhateverTheTokensSpell) {
  Chat chat(R"(,"stream":true,"logprobs":true,"top_logprobs":1)");
  for (std::int32_t token = 0; token < chat.tokenizer.vocabulary_size(); ++token) {
    const TokenProbability likely[] = {{token, -1}};
    const std::string_view text = chat.tokenizer.piece(token);
    const Events events = events_of(
        chat.answer.on_token(0, {.token = token, .text = text, .log_probability = -1, .most_likely = likely}));
    ASSERT_FALSE(events.chunks.empty()) << token;
    std::string bytes = "[";
    for (const char byte : text) {
      bytes.append(bytes.size() > 1 ? "," : "").append(std::to_string(static_cast<std::uint8_t>(byte)));
    }
    ASSERT_EQ(at(events.chunks.back(), "choices.0.logprobs.content.0.bytes"), bytes + "]") << token;
  }
}

std::string said(Chat& chat, GenerationEnd end) {
  std::string stream;
  for (const std::string_view text : test_thoughts_and_calls) stream += chat.answer.on_token(0, {.text = text});
  return stream + std::string(chat.answer.on_end(0, test_ending(end, "")));
}

TEST(ChatAnswer, TellsThoughtsAndCallsApart) {
  Chat chat("", test_reading());
  EXPECT_EQ(said(chat, GenerationEnd::model), "");
  const chat::Value whole = json_value(chat.answer.whole());
  EXPECT_EQ(at(whole, "choices.0.message.content"), "\"Yes.\"");
  EXPECT_EQ(at(whole, "choices.0.message.reasoning_content"), "\"hm\"");
  EXPECT_EQ(at(whole, "choices.0.message.tool_calls.0.function"), R"({"name":"f","arguments":"{\"a\":1}"})");
  EXPECT_EQ(at(whole, "choices.0.message.tool_calls.0.type"), "\"function\"");
  EXPECT_EQ(at(whole, "choices.0.message.tool_calls.1.function"), R"({"name":"f","arguments":"{}"})");
  EXPECT_NE(at(whole, "choices.0.message.tool_calls.0.id"), at(whole, "choices.0.message.tool_calls.1.id"));
  EXPECT_EQ(at(whole, "choices.0.finish_reason"), "\"tool_calls\"");
}

TEST(ChatAnswer, ThatOnlyCallsHasNoContent) {
  Chat chat("", test_reading());
  (void)chat.answer.on_token(0, {.text = "<call>\n{\"name\": \"f\", \"arguments\": {}}\n</call>"});
  (void)chat.answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value whole = json_value(chat.answer.whole());
  EXPECT_EQ(at(whole, "choices.0.message.content"), "null");
  EXPECT_EQ(at(whole, "choices.0.message.reasoning_content"), "absent");
}

TEST(ChatAnswer, ThatIsCutOffInACallSaysSo) {
  Chat chat("", test_reading());
  (void)said(chat, GenerationEnd::token_limit);
  EXPECT_EQ(at(json_value(chat.answer.whole()), "choices.0.finish_reason"), "\"length\"");
}

TEST(ChatAnswer, ThatBreaksOffInACallDoesNotSayThatItCalls) {
  for (const GenerationEnd end : {GenerationEnd::stop, GenerationEnd::model}) {
    Chat chat("", test_reading());
    for (const std::string_view text : test_broken_call) (void)chat.answer.on_token(0, {.text = text});
    (void)chat.answer.on_end(0, test_ending(end, ""));
    EXPECT_EQ(at(json_value(chat.answer.whole()), "choices.0.finish_reason"), "\"stop\"");
  }
}

TEST(ChatAnswer, StreamsThoughtsWordsAndCalls) {
  Chat chat(R"(,"stream":true)", test_reading());
  const Events events = events_of(said(chat, GenerationEnd::model));
  std::string reasoning, content;
  std::vector<std::string> ids, names, arguments;
  for (const chat::Value& chunk : events.chunks) {
    const std::string text = at(chunk, "choices.0.delta.content");
    if (text != "absent" && text != "null") content += text.substr(1, text.size() - 2);
    const std::string thought = at(chunk, "choices.0.delta.reasoning_content");
    if (thought != "absent") reasoning += thought.substr(1, thought.size() - 2);
    if (at(chunk, "choices.0.delta.tool_calls") == "absent") continue;
    const std::string call = "choices.0.delta.tool_calls.0.";
    const bool is_begin = at(chunk, call + "id") != "absent";
    if (is_begin) {
      EXPECT_EQ(at(chunk, call + "index"), std::to_string(ids.size()));
      EXPECT_EQ(at(chunk, call + "type"), "\"function\"");
      EXPECT_EQ(at(chunk, call + "function.arguments"), "\"\"");
      ids.push_back(at(chunk, call + "id"));
      names.push_back(at(chunk, call + "function.name"));
      arguments.emplace_back();
    } else {
      ASSERT_FALSE(ids.empty());
      EXPECT_EQ(at(chunk, call + "index"), std::to_string(ids.size() - 1));
      EXPECT_EQ(at(chunk, call + "function.name"), "absent");
      const std::string more = at(chunk, call + "function.arguments");
      arguments.back() += more.substr(1, more.size() - 2);
    }
  }
  EXPECT_EQ(reasoning, "hm");
  EXPECT_EQ(content, "Yes.");
  EXPECT_EQ(names, (std::vector<std::string>{"\"f\"", "\"f\""}));
  EXPECT_EQ(arguments, (std::vector<std::string>{R"({\"a\":1})", "{}"}));
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(at(events.chunks.back(), "choices.0.finish_reason"), "\"tool_calls\"");
  EXPECT_TRUE(events.is_done);
}

TEST(ChatAnswer, TellsEveryProbabilityOnceWhateverTheTokensAre) {
  Chat chat(R"(,"stream":true,"logprobs":true)", test_reading());
  const Events events = events_of(said(chat, GenerationEnd::model));
  std::size_t told = 0;
  for (const chat::Value& chunk : events.chunks) told += at(chunk, "choices.0.logprobs.content.0") == "absent" ? 0 : 1;
  EXPECT_EQ(told, test_thoughts_and_calls.size());
}

TEST(CallIds, AreNineLettersAndDigitsThatDiffer) {
  const std::string id = call_id("chatcmpl-1", 0, 0);
  EXPECT_EQ(id.size(), 9u);
  EXPECT_TRUE(std::ranges::all_of(id, [](unsigned char letter) { return std::isalnum(letter) != 0; })) << id;
  EXPECT_EQ(call_id("chatcmpl-1", 0, 0), id);
  EXPECT_NE(call_id("chatcmpl-1", 0, 1), id);
  EXPECT_NE(call_id("chatcmpl-1", 1, 0), id);
  EXPECT_NE(call_id("chatcmpl-2", 0, 0), id);
}

TEST(ChatAnswer, TellsHowFarThePromptIsBehindTheRole) {
  Chat chat(R"(,"stream":true,"return_progress":true)");
  const std::string first(chat.answer.on_progress(0, test_progress()));
  const std::string again(chat.answer.on_progress(0, test_progress()));
  const std::string told =
      chunk_of(R"("index":0,"delta":{},"logprobs":null,"finish_reason":null)", "," + std::string(progress_of_test));
  EXPECT_EQ(first, chunk_of(R"("index":0,"delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null,)"
                            R"("finish_reason":null)") +
                       told);
  EXPECT_EQ(again, told);
  EXPECT_EQ(chat.answer.on_token(0, {.token = 'a', .text = "A"}),
            chunk_of(R"("index":0,"delta":{"content":"A"},"logprobs":null,"finish_reason":null)"));
  Chat whole(R"(,"return_progress":true)");
  EXPECT_EQ(whole.answer.on_progress(0, test_progress()), "");
}

}  // namespace
}  // namespace ingot::protocol
