#include "server/protocol/llama_answer.h"

#include "server/protocol/test_answers.h"
#include "server/protocol/text_requests.h"

namespace ingot::protocol {
namespace {

// Each prompt is the tokens of "hi"; the seed is 5.
struct Llama {
  explicit Llama(std::string_view fields)
      : request(read_llama_request(json_object("{" + std::string(fields) + "}"), test_model).value()) {
    const std::vector<std::int32_t> prompt = {'h', 'i', tokenizer.find("<|end|>")};
    const auto asked = text_requests(request.generation, {request.prompts.size(), prompt}, 77, 5);
    answer.emplace("m\"1", request, asked.value(), tokenizer);
  }
  Tokenizer tokenizer = test_tokenizer();
  LlamaRequest request;
  std::optional<LlamaAnswer> answer = {};
};

TEST(LlamaAnswer, IsOneObjectWhereThereIsOneChoice) {
  Llama llama(R"("prompt":"a","n_predict":4,"return_tokens":true,"stop":"x","logit_bias":{"7":-1})");
  EXPECT_EQ(llama.answer->on_token(0, {.token = 'a', .text = "A\n"}), "");
  EXPECT_EQ(llama.answer->on_token(0, {.token = 'b', .text = ""}), "");
  llama.answer->on_end(0, test_ending(GenerationEnd::token_limit, "B"));
  EXPECT_EQ(llama.answer->whole(),
            R"({"index":0,"content":"A\nB","tokens":[97,98],"tokens_predicted":4,"tokens_evaluated":10,"stop":true,)"
            R"("model":"m\"1","generation_settings":{"seed":5,"temperature":1,"top_k":0,"top_p":1,"min_p":0,)"
            R"("repeat_penalty":1,"repeat_last_n":64,"presence_penalty":0,"frequency_penalty":0,"n_predict":4,)"
            R"("n_probs":0,"min_tokens":0,"ignore_eos":false,"stream":false,"timings_per_token":false,"stop":["x"],)"
            R"("logit_bias":[{"token":7,"bias":-1}]},"prompt":"hi<|end|>","has_new_line":true,"truncated":false,)"
            R"("stop_type":"limit","stopping_word":"","tokens_cached":6)" +
                test_timings() + "}");
}

TEST(LlamaAnswer, IsAListWhereThereAreSeveral) {
  Llama llama(R"("prompt":["a","b"])");
  llama.answer->on_token(1, {.token = 'b', .text = "B"});
  llama.answer->on_end(1, test_ending(GenerationEnd::model, ""));
  GenerationEnding stopped = test_ending(GenerationEnd::stop, "");
  stopped.stop = "x";
  llama.answer->on_end(0, stopped);
  const chat::Value whole = json_value(llama.answer->whole());
  EXPECT_EQ(at(whole, "0.stop_type"), "\"word\"");
  EXPECT_EQ(at(whole, "0.stopping_word"), "\"x\"");
  EXPECT_EQ(at(whole, "0.tokens"), "[]");
  EXPECT_EQ(at(whole, "1.index"), "1");
  EXPECT_EQ(at(whole, "1.content"), "\"B\"");
  EXPECT_EQ(at(whole, "1.tokens"), "[]");
  EXPECT_EQ(at(whole, "1.has_new_line"), "false");
  EXPECT_EQ(at(whole, "1.stop_type"), "\"eos\"");
}

TEST(LlamaAnswer, TellsOfEachChoiceByWhichSeedItWasDrawn) {
  Llama llama(R"("prompt":["a","b"],"n":2)");
  for (std::int64_t choice = 0; choice < 4; ++choice) {
    llama.answer->on_end(choice, test_ending(GenerationEnd::model, ""));
  }
  const chat::Value whole = json_value(llama.answer->whole());
  for (const auto& [choice, seed] : {std::pair("0", "5"), {"1", "6"}, {"2", "5"}, {"3", "6"}}) {
    EXPECT_EQ(at(whole, std::string(choice) + ".generation_settings.seed"), seed) << choice;
    EXPECT_EQ(at(whole, std::string(choice) + ".prompt"), "\"hi<|end|>\"") << choice;
  }
  EXPECT_EQ(at(whole, "4"), "absent");
}

TEST(LlamaAnswer, StreamsAChunkForEachTokenAndOneForTheEnd) {
  Llama llama(R"("prompt":"a","stream":true)");
  const Events first = events_of(llama.answer->on_token(0, {.token = 'a', .text = "A"}));
  ASSERT_EQ(first.chunks.size(), 1u);
  EXPECT_EQ(json_of(first.chunks[0]),
            R"({"index":0,"content":"A","tokens":[97],"tokens_predicted":0,"tokens_evaluated":0,"stop":false})");
  const Events second = events_of(llama.answer->on_token(0, {.token = 'b', .text = ""}));
  ASSERT_EQ(second.chunks.size(), 1u);
  EXPECT_EQ(at(second.chunks[0], "content"), "\"\"");
  EXPECT_EQ(at(second.chunks[0], "tokens"), "[98]");
  const Events last = events_of(llama.answer->on_end(0, test_ending(GenerationEnd::token_limit, "z")));
  ASSERT_EQ(last.chunks.size(), 1u);
  EXPECT_FALSE(last.is_done);
  EXPECT_EQ(at(last.chunks[0], "content"), "\"z\"");
  EXPECT_EQ(at(last.chunks[0], "tokens"), "[]");
  EXPECT_EQ(at(last.chunks[0], "stop"), "true");
  EXPECT_EQ(at(last.chunks[0], "generation_settings.n_predict"), "-1");
  EXPECT_EQ(at(last.chunks[0], "timings.predicted_n"), "4");
  // No length was asked for: the context was full.
  EXPECT_EQ(at(last.chunks[0], "truncated"), "true");
  EXPECT_TRUE(llama.answer->is_complete());
}

TEST(LlamaAnswer, TellsProbabilitiesAndTimingsWhereAskedFor) {
  const TokenProbability likely[] = {{'h', -0.25f}, {'i', -2}};
  const ChosenToken chosen = {.token = 'h', .text = "h", .log_probability = -0.25f, .most_likely = likely};
  constexpr std::string_view expected =
      R"([{"id":104,"token":"h","logprob":-0.25,"bytes":[104],"top_logprobs":[)"
      R"({"id":104,"token":"h","logprob":-0.25,"bytes":[104]},{"id":105,"token":"i","logprob":-2,"bytes":[105]}]}])";
  Llama stream(R"("prompt":"a","stream":true,"n_probs":2,"timings_per_token":true)");
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Events events = events_of(stream.answer->on_token(0, chosen));
    EXPECT_EQ(at(events.chunks[0], "completion_probabilities"), expected);
    EXPECT_EQ(at(events.chunks[0], "timings.predicted_n"), "0");
  }
  Llama whole(R"("prompt":"a","n_probs":2)");
  for (int repeat = 0; repeat < 2; ++repeat) whole.answer->on_token(0, chosen);
  whole.answer->on_end(0, test_ending(GenerationEnd::model, ""));
  EXPECT_EQ(at(json_value(whole.answer->whole()), "completion_probabilities.1.id"), "104");
}

TEST(LlamaAnswer, ListsWhatNeverComesWhereTheEndIsIgnored) {
  Llama llama(R"("prompt":"a","ignore_eos":true)");
  llama.answer->on_end(0, test_ending(GenerationEnd::token_limit, ""));
  const std::size_t ends = llama.tokenizer.description().end_of_generation.size();
  const chat::Value whole = json_value(llama.answer->whole());
  EXPECT_EQ(at(whole, "generation_settings.logit_bias." + std::to_string(ends)), "absent");
  EXPECT_EQ(at(whole, "generation_settings.logit_bias.0.bias"), ends > 0 ? "null" : "absent");
}

TEST(LlamaAnswer, TellsHowFarThePromptIs) {
  Llama llama(R"("prompt":"a","stream":true,"return_progress":true)");
  EXPECT_TRUE(llama.request.generation.text.wants_progress);
  EXPECT_EQ(llama.answer->on_progress(0, test_progress()),
            R"(data: {"index":0,"content":"","tokens":[],"tokens_predicted":0,"tokens_evaluated":10,"stop":false,)" +
                std::string(progress_of_test) + "}\n\n");
  Llama timed(R"("prompt":"a","stream":true,"return_progress":true,"timings_per_token":true)");
  const Events events = events_of(timed.answer->on_progress(0, test_progress()));
  ASSERT_EQ(events.chunks.size(), 1u);
  EXPECT_EQ(at(events.chunks[0], "timings.prompt_n"), "2");
  EXPECT_EQ(at(events.chunks[0], "timings.prompt_ms"), "250");
}

}  // namespace
}  // namespace ingot::protocol
