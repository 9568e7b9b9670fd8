#include "server/protocol/completion_answer.h"

#include <limits>

#include "server/protocol/test_answers.h"

namespace ingot::protocol {
namespace {

constexpr float no_probability = std::numeric_limits<float>::quiet_NaN();

CompletionRequest completion_request_of(std::string_view fields) {
  return read_completion_request(json_object("{" + std::string(fields) + "}"), test_model).value();
}

struct Completion {
  explicit Completion(std::string_view fields) : answer(test_head(), completion_request_of(fields), tokenizer) {}
  Tokenizer tokenizer = test_tokenizer();
  CompletionAnswer answer;
};

TEST(CompletionAnswer, IsOneTextWhereItIsNotStreamed) {
  Completion completion(R"("prompt":"a")");
  EXPECT_EQ(completion.answer.on_token(0, {.token = 'a', .text = "A"}), "");
  EXPECT_EQ(completion.answer.on_end(0, test_ending(GenerationEnd::token_limit, "B")), "");
  EXPECT_EQ(completion.answer.whole(),
            R"({"id":"id-1","object":"text_completion","created":12,"model":"m\"1","system_fingerprint":"fp",)"
            R"("choices":[{"index":0,"text":"AB","logprobs":null,"finish_reason":"length"}],)"
            R"("usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,)"
            R"("prompt_tokens_details":{"cached_tokens":6}})" +
                test_timings() + "}");
}

TEST(CompletionAnswer, StreamsTextsThenAReasonThenDone) {
  Completion completion(R"("prompt":"a","stream":true)");
  EXPECT_EQ(completion.answer.on_token(0, {.token = 'a', .text = "A"}),
            R"(data: {"id":"id-1","object":"text_completion","created":12,"model":"m\"1","system_fingerprint":"fp",)"
            R"("choices":[{"index":0,"text":"A","logprobs":null,"finish_reason":null}]})"
            "\n\n");
  EXPECT_EQ(completion.answer.on_token(0, {.token = 'a', .text = ""}), "");
  const Events last = events_of(completion.answer.on_end(0, test_ending(GenerationEnd::stop, "z")));
  ASSERT_EQ(last.chunks.size(), 2u);
  EXPECT_EQ(at(last.chunks[0], "choices.0.text"), "\"z\"");
  EXPECT_EQ(at(last.chunks[1], "choices.0"), R"({"index":0,"text":"","logprobs":null,"finish_reason":"stop"})");
  EXPECT_EQ(at(last.chunks[1], "timings.predicted_n"), "4");
  EXPECT_TRUE(last.is_done);
}

TEST(CompletionAnswer, CountsChoicesOverAllPrompts) {
  Completion completion(R"("prompt":["p","q"],"n":2,"echo":true)");
  ASSERT_EQ(completion.answer.choice_count(), 4);
  for (std::int64_t choice = 0; choice < 4; ++choice) {
    const std::string text(1, static_cast<char>('0' + choice));
    completion.answer.on_token(choice, {.token = 'a', .text = text});
    completion.answer.on_end(choice, test_ending(GenerationEnd::model, ""));
  }
  const chat::Value answer = json_value(completion.answer.whole());
  EXPECT_EQ(at(answer, "choices.1.text"), "\"p1\"");
  EXPECT_EQ(at(answer, "choices.2.text"), "\"q2\"");
  // Two prompts of ten tokens, four answers of four.
  EXPECT_EQ(at(answer, "usage.prompt_tokens"), "20");
  EXPECT_EQ(at(answer, "usage.completion_tokens"), "16");
}

TEST(CompletionAnswer, EchoesThePrompt) {
  Completion text(R"("prompt":"say ","echo":true,"stream":true)");
  const Events events = events_of(text.answer.on_token(0, {.token = 'a', .text = "A"}));
  ASSERT_EQ(events.chunks.size(), 2u);
  EXPECT_EQ(at(events.chunks[0], "choices.0.text"), "\"say \"");
  EXPECT_EQ(at(events.chunks[1], "choices.0.text"), "\"A\"");

  Completion tokens(R"("prompt":[104,105],"echo":true)");
  tokens.answer.on_end(0, test_ending(GenerationEnd::model, "!"));
  EXPECT_EQ(at(json_value(tokens.answer.whole()), "choices.0.text"), "\"hi!\"");
}

TEST(CompletionAnswer, TellsProbabilitiesBesideTokens) {
  Completion completion(R"("prompt":"a","logprobs":2)");
  const std::vector<TokenProbability> with_it = {{'h', -0.5f}, {0xc3, -1}};
  const std::vector<TokenProbability> without_it = {{'x', -0.5f}};
  // h, then the two bytes of an e with an accent, of which the first has no text yet, then a special token, then !
  completion.answer.on_token(0, {.token = 'h', .text = "h", .log_probability = -0.5f, .most_likely = with_it});
  completion.answer.on_token(
      0, {.token = 0xc3, .text = "", .log_probability = -2, .most_likely = without_it, .offset = 1});
  completion.answer.on_token(0, {.token = 0xa9, .text = "\xC3\xA9", .log_probability = -3, .offset = 1});
  const std::int32_t end = completion.tokenizer.find("<|end|>");
  completion.answer.on_token(0, {.token = end, .text = "", .log_probability = -4, .offset = 2});
  const float never = -std::numeric_limits<float>::infinity();
  completion.answer.on_token(0, {.token = '!', .text = "!", .log_probability = never, .offset = 2});
  completion.answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value answer = json_value(completion.answer.whole());
  EXPECT_EQ(at(answer, "choices.0.text"), "\"h\xC3\xA9!\"");
  EXPECT_EQ(at(answer, "choices.0.logprobs"),
            R"({"tokens":["h","bytes:\\xc3","bytes:\\xa9","<|end|>","!"],"token_logprobs":[-0.5,-2,-3,-4,-9999],)"
            R"("top_logprobs":[{"h":-0.5,"bytes:\\xc3":-1},{"x":-0.5,"bytes:\\xc3":-2},{"bytes:\\xa9":-3},)"
            R"({"<|end|>":-4},{"!":-9999}],"text_offset":[0,1,1,2,2]})");
}

TEST(CompletionAnswer, TellsProbabilitiesOfAnEchoedPromptFirst) {
  for (const bool is_streamed : {false, true}) {
    Completion completion(is_streamed ? R"("prompt":"h\u00e9","echo":true,"logprobs":0,"stream":true)"
                                      : R"("prompt":"h\u00e9","echo":true,"logprobs":0)");
    // A token in front that the text does not have, as most models want one.
    const std::vector<ChosenToken> prompt = {
        {.token = completion.tokenizer.find("<|end|>"), .text = {}, .log_probability = no_probability},
        {.token = 'h', .text = {}, .log_probability = -1},
        {.token = 0xc3, .text = {}, .log_probability = -2},
        {.token = 0xa9, .text = {}, .log_probability = -3}};
    const std::string first(completion.answer.on_prompt(0, prompt));
    const std::string second(completion.answer.on_token(0, {.token = '!', .text = "!", .log_probability = -4}));
    completion.answer.on_end(0, test_ending(GenerationEnd::model, ""));
    const std::string of_prompt =
        R"({"tokens":["<|end|>","h","bytes:\\xc3","bytes:\\xa9"],"token_logprobs":[null,-1,-2,-3],)"
        R"("top_logprobs":[null,{"h":-1},{"bytes:\\xc3":-2},{"bytes:\\xa9":-3}],"text_offset":[0,0,1,1]})";
    if (is_streamed) {
      const Events events = events_of(first + second);
      ASSERT_EQ(events.chunks.size(), 2u);
      EXPECT_EQ(at(events.chunks[0], "choices.0.text"), "\"h\xC3\xA9\"");
      EXPECT_EQ(at(events.chunks[0], "choices.0.logprobs"), of_prompt);
      EXPECT_EQ(at(events.chunks[1], "choices.0.text"), "\"!\"");
      EXPECT_EQ(at(events.chunks[1], "choices.0.logprobs.text_offset"), "[2]");
    } else {
      const chat::Value answer = json_value(completion.answer.whole());
      EXPECT_EQ(at(answer, "choices.0.text"), "\"h\xC3\xA9!\"");
      EXPECT_EQ(at(answer, "choices.0.logprobs.token_logprobs"), "[null,-1,-2,-3,-4]");
      EXPECT_EQ(at(answer, "choices.0.logprobs.text_offset"), "[0,0,1,1,2]");
    }
  }
}

// A byte that is no character by itself is shown, and counted, as one.
TEST(CompletionAnswer, FindsTheTokensOfAnEchoBehindBytesThatAreNoCharacters) {
  Completion completion(R"("prompt":[169,104,105],"echo":true,"logprobs":0)");
  const std::vector<ChosenToken> prompt = {{.token = 0xa9, .text = {}, .log_probability = no_probability},
                                           {.token = 'h', .text = {}, .log_probability = -1},
                                           {.token = 'i', .text = {}, .log_probability = -2}};
  completion.answer.on_prompt(0, prompt);
  completion.answer.on_token(0, {.token = '!', .text = "!", .log_probability = -3});
  completion.answer.on_end(0, test_ending(GenerationEnd::model, ""));
  const chat::Value answer = json_value(completion.answer.whole());
  EXPECT_EQ(at(answer, "choices.0.text"), "\"\xEF\xBF\xBDhi!\"");
  EXPECT_EQ(at(answer, "choices.0.logprobs.text_offset"), "[0,1,2,3]");
}

TEST(CompletionAnswer, EchoesWithoutGenerating) {
  Completion told(R"("prompt":"h","echo":true,"logprobs":0,"max_tokens":0)");
  const ChosenToken prompt[] = {{.token = 'h', .text = {}, .log_probability = no_probability}};
  told.answer.on_prompt(0, prompt);
  told.answer.on_end(0, test_ending(GenerationEnd::token_limit, ""));
  EXPECT_EQ(at(json_value(told.answer.whole()), "choices.0.logprobs.tokens"), "[\"h\"]");

  // Probabilities that were computed and not asked for are not told.
  Completion silent(R"("prompt":"h","echo":true,"max_tokens":0)");
  silent.answer.on_prompt(0, prompt);
  silent.answer.on_end(0, test_ending(GenerationEnd::token_limit, ""));
  const chat::Value told_silently = json_value(silent.answer.whole());
  EXPECT_EQ(at(told_silently, "choices.0.text"), "\"h\"");
  EXPECT_EQ(at(told_silently, "choices.0.logprobs"), "null");
  Completion streamed(R"("prompt":"h","echo":true,"max_tokens":0,"stream":true)");
  const std::string first(streamed.answer.on_prompt(0, prompt));
  const Events events =
      events_of(first + std::string(streamed.answer.on_end(0, test_ending(GenerationEnd::token_limit, ""))));
  ASSERT_EQ(events.chunks.size(), 2u);
  EXPECT_EQ(at(events.chunks[0], "choices.0"), R"({"index":0,"text":"h","logprobs":null,"finish_reason":null})");
}

TEST(CompletionAnswer, TellsTheTokenThatEndedItAmongTheProbabilitiesAlone) {
  for (const bool is_streamed : {false, true}) {
    Completion completion(is_streamed ? R"("prompt":"a","logprobs":0,"stream":true)" : R"("prompt":"a","logprobs":0)");
    GenerationEnding ending = test_ending(GenerationEnd::model, "z");
    ending.last = {.token = completion.tokenizer.find("<|end|>"), .text = {}, .log_probability = -2, .offset = 2};
    completion.answer.on_token(0, {.token = 'h', .text = "h", .log_probability = -1});
    const Events events = events_of(completion.answer.on_end(0, ending));
    if (is_streamed) {
      ASSERT_EQ(events.chunks.size(), 2u);
      EXPECT_EQ(at(events.chunks[0], "choices.0.text"), "\"z\"");
      EXPECT_EQ(at(events.chunks[0], "choices.0.logprobs"),
                R"({"tokens":["<|end|>"],"token_logprobs":[-2],"top_logprobs":[{"<|end|>":-2}],"text_offset":[2]})");
    } else {
      const chat::Value answer = json_value(completion.answer.whole());
      EXPECT_EQ(at(answer, "choices.0.text"), "\"hz\"");
      EXPECT_EQ(at(answer, "choices.0.logprobs.tokens"), R"(["h","<|end|>"])");
      EXPECT_EQ(at(answer, "choices.0.logprobs.token_logprobs"), "[-1,-2]");
    }
  }
  Completion silent(R"("prompt":"a")");
  GenerationEnding ending = test_ending(GenerationEnd::model, "");
  ending.last = {.token = 'h', .text = {}, .log_probability = -2};
  silent.answer.on_end(0, ending);
  EXPECT_EQ(at(json_value(silent.answer.whole()), "choices.0.logprobs"), "null");
}

TEST(CompletionAnswer, NamesEachTokenOnce) {
  // Two ways to spell the same bytes: one token, and a special one that is spelled so.
  Completion completion(R"("prompt":"a","logprobs":2)");
  const TokenProbability likely[] = {{'h', -0.5f}, {'h', -0.75f}};
  completion.answer.on_token(0, {.token = 'h', .text = "h", .log_probability = -0.75f, .most_likely = likely});
  completion.answer.on_end(0, test_ending(GenerationEnd::model, ""));
  EXPECT_EQ(at(json_value(completion.answer.whole()), "choices.0.logprobs.top_logprobs"), R"([{"h":-0.5}])");
}

TEST(CompletionAnswer, TellsHowFarThePromptIs) {
  Completion completion(R"("prompt":"say ","stream":true,"echo":true,"return_progress":true)");
  const Events events = events_of(completion.answer.on_progress(0, test_progress()));
  ASSERT_EQ(events.chunks.size(), 1u);
  EXPECT_EQ(at(events.chunks[0], "choices.0"), R"({"index":0,"text":"","logprobs":null,"finish_reason":null})");
  EXPECT_EQ(at(events.chunks[0], "prompt_progress.processed"), "8");
}

}  // namespace
}  // namespace ingot::protocol
