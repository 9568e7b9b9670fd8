#include "server/protocol/completion_request.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

using Tokens = std::vector<std::int32_t>;

Outcome<CompletionRequest> read_completion(const std::string& json) {
  return read_completion_request(json_object(json), test_model);
}

CompletionRequest completion_of(const std::string& json) {
  Outcome<CompletionRequest> read = read_completion(json);
  EXPECT_TRUE(read.ok()) << json << ": " << read.error().message;
  return read.ok() ? std::move(read).value() : CompletionRequest();
}

std::string refused_param(const std::string& json) {
  const Outcome<CompletionRequest> read = read_completion(json);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.error().status, 400);
  EXPECT_FALSE(read.error().message.empty());
  return read.error().param;
}

TEST(CompletionRequest, TakesTextsAndTokensOneOrMany) {
  EXPECT_EQ(completion_of(R"({"prompt":"a"})").prompts, std::vector<TokenInput>{"a"});
  EXPECT_EQ(completion_of(R"({"prompt":""})").prompts, std::vector<TokenInput>{""});
  EXPECT_EQ(completion_of(R"({"prompt":["a","b"]})").prompts, (std::vector<TokenInput>{"a", "b"}));
  EXPECT_EQ(completion_of(R"({"prompt":[1,299]})").prompts, std::vector<TokenInput>{(Tokens{1, 299})});
  EXPECT_EQ(completion_of(R"({"prompt":[[1],[2,3]]})").prompts, (std::vector<TokenInput>{Tokens{1}, Tokens{2, 3}}));
}

TEST(CompletionRequest, RefusesOtherPrompts) {
  EXPECT_EQ(refused_param("{}"), "prompt");
  EXPECT_EQ(refused_param(R"({"prompt":null})"), "prompt");
  EXPECT_EQ(refused_param(R"({"prompt":5})"), "prompt");
  EXPECT_EQ(refused_param(R"({"prompt":[]})"), "prompt");
  EXPECT_EQ(refused_param(R"({"prompt":[[]]})"), "prompt[0]");
  EXPECT_EQ(refused_param(R"({"prompt":[1,"a"]})"), "prompt[1]");
  EXPECT_EQ(refused_param(R"({"prompt":["a",1]})"), "prompt[1]");
  EXPECT_EQ(refused_param(R"({"prompt":[1,300]})"), "prompt[1]");
  EXPECT_EQ(refused_param(R"({"prompt":[-1]})"), "prompt[0]");
  EXPECT_EQ(refused_param(R"({"prompt":[[1],[2,1.5]]})"), "prompt[1][1]");
  EXPECT_EQ(refused_param(R"({"prompt":[{}]})"), "prompt[0]");
}

TEST(CompletionRequest, HasOpenAisLength) {
  EXPECT_EQ(completion_of(R"({"prompt":"a"})").generation.most_tokens, 16);
  EXPECT_EQ(completion_of(R"({"prompt":"a","max_tokens":3})").generation.most_tokens, 3);
  EXPECT_EQ(refused_param(R"({"prompt":"a","max_tokens":0})"), "max_tokens");
  EXPECT_EQ(refused_param(R"({"prompt":"a","max_tokens":-1})"), "max_tokens");
}

TEST(CompletionRequest, TellsProbabilitiesOfThePromptToo) {
  const CompletionRequest plain = completion_of(R"({"prompt":"a","logprobs":5})");
  EXPECT_EQ(plain.generation.text.most_likely, 5);
  EXPECT_TRUE(plain.generation.tells_probabilities);
  EXPECT_FALSE(plain.generation.text.wants_prompt_probabilities);

  const CompletionRequest echoed = completion_of(R"({"prompt":"a","logprobs":0,"echo":true,"max_tokens":0})");
  EXPECT_TRUE(echoed.echoes);
  EXPECT_EQ(echoed.generation.text.most_likely, 0);
  EXPECT_TRUE(echoed.generation.text.wants_prompt_probabilities);

  // The engine generates nothing only where it is asked for a prompt's probabilities.
  const CompletionRequest silent = completion_of(R"({"prompt":"a","echo":true,"max_tokens":0})");
  EXPECT_TRUE(silent.generation.text.wants_prompt_probabilities);
  EXPECT_EQ(silent.generation.text.most_likely, 0);
  EXPECT_FALSE(silent.generation.tells_probabilities);

  EXPECT_FALSE(completion_of(R"({"prompt":"a","echo":true})").generation.text.wants_prompt_probabilities);
  EXPECT_EQ(refused_param(R"({"prompt":"a","logprobs":21})"), "logprobs");
  EXPECT_EQ(refused_param(R"({"prompt":"a","logprobs":true})"), "logprobs");
}

TEST(CompletionRequest, TakesBestOfWhereThereIsNothingToChoose) {
  EXPECT_EQ(refused_param(R"({"prompt":"a","best_of":1})"), "accepted");
  EXPECT_EQ(refused_param(R"({"prompt":"a","n":2,"best_of":2})"), "accepted");
  EXPECT_EQ(refused_param(R"({"prompt":"a","best_of":2})"), "best_of");
  EXPECT_EQ(refused_param(R"({"prompt":"a","n":2,"best_of":1})"), "best_of");
}

TEST(CompletionRequest, RefusesByName) {
  EXPECT_EQ(refused_param(R"({"prompt":"a","suffix":"b"})"), "suffix");
  EXPECT_EQ(refused_param(R"({"prompt":"a","n_predict":5})"), "n_predict");
  EXPECT_EQ(refused_param(R"({"prompt":"a","messages":[]})"), "messages");
}

TEST(CompletionRequest, SharesTheFieldsOfGenerations) {
  const CompletionRequest request = completion_of(
      R"({"prompt":"a","temperature":0,"n":2,"stop":["x"],"stream":true,"stream_options":{"include_usage":true},"user":"u"})");
  EXPECT_EQ(request.generation.text.sampling.temperature, 0);
  EXPECT_EQ(request.generation.choices, 2);
  EXPECT_TRUE(request.generation.is_streamed);
  EXPECT_TRUE(request.generation.tells_usage);
}

TEST(CompletionRequest, ChecksEveryFieldThatItHonours) {
  for (const KnownField& field : fields_of_completion_requests()) {
    if (field.use != FieldUse::honoured) continue;
    const std::string prompt = field.name == "prompt" ? "" : R"("prompt":"a",)";
    const std::string param = refused_param("{" + prompt + "\"" + std::string(field.name) + "\":[[{\"a\":1}]]}");
    EXPECT_TRUE(param.starts_with(field.name)) << field.name << " was not looked at: " << param;
  }
}

TEST(CompletionRequest, NamesAdaptersByNumber) {
  ServedModel model = test_model;
  const auto read = [&](const std::string& lora) {
    return read_completion_request(json_object(R"({"prompt":"a","lora":)" + lora + "}"), model);
  };
  using Scales = std::optional<std::vector<float>>;
  EXPECT_EQ(read("[]").value().generation.adapters, Scales(std::vector<float>{})) << "as clients of others send it";
  EXPECT_EQ(completion_of(R"({"prompt":"a"})").generation.adapters, Scales());
  EXPECT_EQ(read(R"([{"id":0,"scale":1}])").error().param, "lora");
  model.adapters = 3;
  EXPECT_EQ(read(R"([{"id":1,"scale":0.5},{"scale":-2,"id":2}])").value().generation.adapters,
            Scales(std::vector<float>{0, 0.5f, -2}));
  for (const auto& [lora, param] : {std::pair<std::string, std::string>{R"({"id":0})", "lora"},
                                    {R"([5])", "lora[0]"},
                                    {R"([{"id":3,"scale":1}])", "lora[0].id"},
                                    {R"([{"id":-1,"scale":1}])", "lora[0].id"},
                                    {R"([{"id":1}])", "lora[0].scale"},
                                    {R"([{"scale":1}])", "lora[0].id"},
                                    {R"([{"id":0,"scale":1},{"id":1,"scale":1e9}])", "lora[1].scale"},
                                    {R"([{"id":0,"scale":1,"task":"x"}])", "lora[0].task"}}) {
    const Outcome<CompletionRequest> refused = read(lora);
    ASSERT_FALSE(refused.ok()) << lora;
    EXPECT_EQ(refused.error().param, param) << lora;
  }
}

}  // namespace
}  // namespace ingot::protocol
