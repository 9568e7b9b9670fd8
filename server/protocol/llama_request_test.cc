#include "server/protocol/llama_request.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

using Tokens = std::vector<std::int32_t>;
using Prompt = std::vector<TokenInput>;

LlamaRequest llama_request_of(const std::string& json) {
  Outcome<LlamaRequest> read = read_llama_request(json_object(json), test_model);
  EXPECT_TRUE(read.ok()) << json << ": " << read.error().message;
  return read.ok() ? std::move(read).value() : LlamaRequest();
}

std::string refused_llama_param(const std::string& json) {
  const Outcome<LlamaRequest> read = read_llama_request(json_object(json), test_model);
  return read.ok() ? "accepted" : read.error().param;
}

TEST(LlamaRequest, TakesPromptsInParts) {
  const std::pair<std::string_view, std::vector<Prompt>> cases[] = {
      {R"("a")", {{"a"}}},
      {R"([1,2])", {{Tokens{1, 2}}}},
      {R"([1,2,"a",3])", {{Tokens{1, 2}, "a", Tokens{3}}}},
      {R"(["a",3])", {{"a", Tokens{3}}}},
      {R"({"prompt_string":"a"})", {{"a"}}},
      {R"(["a","b"])", {{"a"}, {"b"}}},
      {R"(["a",[1,"b"],{"prompt_string":"c"}])", {{"a"}, {Tokens{1}, "b"}, {"c"}}},
  };
  for (const auto& [prompt, expected] : cases) {
    EXPECT_EQ(llama_request_of("{\"prompt\":" + std::string(prompt) + "}").prompts, expected) << prompt;
  }
}

TEST(LlamaRequest, RefusesOtherPromptsByTheirPlace) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"null", "prompt"},
      {"5", "prompt"},
      {"[]", "prompt"},
      {"[300]", "prompt[0]"},
      {R"([1,["a"]])", "prompt[1]"},
      {R"(["a",[]])", "prompt[1]"},
      {R"(["a",[1,-1]])", "prompt[1][1]"},
      {"{}", "prompt.prompt_string"},
      {R"({"prompt_string":"a","multimodal_data":["b"]})", "prompt.multimodal_data"},
      {R"([{"prompt_string":5}])", "prompt[0].prompt_string"},
  };
  for (const auto& [prompt, param] : cases) {
    EXPECT_EQ(refused_llama_param("{\"prompt\":" + std::string(prompt) + "}"), param) << prompt;
  }
  EXPECT_EQ(refused_llama_param("{}"), "prompt");
}

TEST(LlamaRequest, GeneratesAsManyTokensAsFitWhereItDoesNotSay) {
  EXPECT_EQ(llama_request_of(R"({"prompt":"a"})").generation.most_tokens, std::nullopt);
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","n_predict":-1})").generation.most_tokens, std::nullopt);
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","n_predict":5})").generation.most_tokens, 5);
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","max_tokens":6})").generation.most_tokens, 6);
  EXPECT_EQ(refused_llama_param(R"({"prompt":"a","n_predict":0})"), "n_predict");
  EXPECT_EQ(refused_llama_param(R"({"prompt":"a","n_predict":-2})"), "n_predict");
}

TEST(LlamaRequest, BiasesTokensAndTexts) {
  for (const std::string_view biases : {R"({"5":-100,"a":1.5})", R"([[5,-100],["a",1.5]])"}) {
    const GenerationRequest request =
        llama_request_of(R"({"prompt":"a","logit_bias":)" + std::string(biases) + "}").generation;
    ASSERT_EQ(request.text.biases.size(), 1u) << biases;
    EXPECT_EQ(request.text.biases[0].token, 5);
    EXPECT_EQ(request.text.biases[0].added, -100);
    ASSERT_EQ(request.text_biases.size(), 1u) << biases;
    EXPECT_EQ(request.text_biases[0].text, "a");
    EXPECT_EQ(request.text_biases[0].added, 1.5f);
  }
  const auto never = llama_request_of(R"({"prompt":"a","logit_bias":[[7,false]]})").generation.text.biases;
  EXPECT_EQ(never.at(0).added, -std::numeric_limits<float>::infinity());
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"5", "logit_bias"},
      {"[5]", "logit_bias[0]"},
      {"[[5]]", "logit_bias[0]"},
      {"[[5,101]]", "logit_bias[0]"},
      {"[[5,true]]", "logit_bias[0]"},
      {"[[300,1]]", "logit_bias"},
      {R"([["",1]])", "logit_bias"},
      {R"({"300":1})", "logit_bias"},
      {R"({"7":"x"})", "logit_bias.7"},
      {R"({"07":1})", "logit_bias"},
  };
  for (const auto& [biases, param] : cases) {
    EXPECT_EQ(refused_llama_param(R"({"prompt":"a","logit_bias":)" + std::string(biases) + "}"), param) << biases;
  }
}

TEST(LlamaRequest, HasABoundForBiases) {
  const auto biased = [](int count) {
    std::string pairs = "[7,1]";
    for (int pair = 1; pair < count; ++pair) pairs += ",[\"a\",1]";
    return refused_llama_param(R"({"prompt":"a","logit_bias":[)" + pairs + "]}");
  };
  EXPECT_EQ(biased(1024), "accepted");
  EXPECT_EQ(biased(1025), "logit_bias");
}

TEST(LlamaRequest, TakesMinusOneForAnySeed) {
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","seed":-1})").generation.seed, std::nullopt);
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","seed":7})").generation.seed, 7u);
}

TEST(LlamaRequest, HonoursItsOwnFieldsAndThoseOfAllTexts) {
  const LlamaRequest request = llama_request_of(
      R"({"prompt":"a","n_probs":3,"return_tokens":true,"post_sampling_probs":false,"temperature":0.5,"stream":true})");
  EXPECT_TRUE(request.generation.tells_probabilities);
  EXPECT_EQ(request.generation.text.most_likely, 3);
  EXPECT_TRUE(request.returns_tokens);
  EXPECT_EQ(request.generation.text.sampling.temperature, 0.5);
  EXPECT_TRUE(request.generation.is_streamed);
  EXPECT_EQ(llama_request_of(R"({"prompt":"a","n_probs":0})").generation.text.most_likely, std::nullopt);
  for (const std::string_view field :
       {R"("n_probs":21)", R"("return_tokens":1)", R"("post_sampling_probs":true)", R"("response_fields":["content"])",
        R"("return_progress":1)", R"("nonsense":1)"}) {
    EXPECT_TRUE(field.substr(1).starts_with(refused_llama_param("{\"prompt\":\"a\"," + std::string(field) + "}")))
        << field;
  }
}

TEST(LlamaRequest, PenalisesAsManyTokensAsItSays) {
  const auto window = [](const std::string& field) {
    return llama_request_of("{\"prompt\":\"a\"" + field + "}").generation.text.sampling.penalty_window;
  };
  EXPECT_EQ(window(""), test_model.sampling.penalty_window);
  EXPECT_EQ(window(R"(,"repeat_last_n":0)"), 0);
  EXPECT_EQ(window(R"(,"repeat_last_n":7)"), 7);
  EXPECT_EQ(window(R"(,"repeat_last_n":-1)"), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(refused_llama_param(R"({"prompt":"a","repeat_last_n":-2})"), "repeat_last_n");
}

TEST(LlamaRequest, TakesAllThatLlamaServersPageSends) {
  EXPECT_EQ(refused_llama_param(
                R"({"prompt":"a","dynatemp_range":0,"dynatemp_exponent":1,"xtc_probability":0,"xtc_threshold":0.1,)"
                R"("typical_p":1,"repeat_last_n":64,"repeat_penalty":1,"dry_multiplier":0,"dry_base":1.75,)"
                R"("dry_allowed_length":2,"dry_penalty_last_n":-1,"id_slot":-1,"mirostat":0,"n_keep":0,)"
                R"("temperature":1,"samplers":["top_k","typ_p","top_p","min_p","temperature"]})"),
            "accepted");
  EXPECT_EQ(refused_llama_param(R"({"prompt":"a","mirostat":1})"), "mirostat");
}

}  // namespace
}  // namespace ingot::protocol
