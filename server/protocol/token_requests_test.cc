#include "server/protocol/token_requests.h"

#include "server/protocol/model_card.h"
#include "server/protocol/server_properties.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

TEST(TokenizeRequest, HasLlamaServersDefaults) {
  const auto read = read_tokenize_request(json_object(R"({"content":"a"})"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().content, "a");
  EXPECT_FALSE(read.value().adds_special_tokens);
  EXPECT_TRUE(read.value().parses_special_tokens);
  EXPECT_FALSE(read.value().tells_pieces);
  const auto other = read_tokenize_request(
      json_object(R"({"model":"m","content":"","add_special":true,"parse_special":false,"with_pieces":true})"));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other.value().adds_special_tokens);
  EXPECT_FALSE(other.value().parses_special_tokens);
  EXPECT_TRUE(other.value().tells_pieces);
}

TEST(TokenizeRequest, RefusesByName) {
  EXPECT_EQ(read_tokenize_request(json_object("{}")).error().param, "content");
  EXPECT_EQ(read_tokenize_request(json_object(R"({"content":[1]})")).error().param, "content");
  EXPECT_EQ(read_tokenize_request(json_object(R"({"content":"a","x":1})")).error().param, "x");
  EXPECT_EQ(read_detokenize_request(json_object("{}"), test_model).error().param, "tokens");
  EXPECT_EQ(read_detokenize_request(json_object(R"({"tokens":"a"})"), test_model).error().param, "tokens");
  EXPECT_EQ(read_detokenize_request(json_object(R"({"tokens":[1,300]})"), test_model).error().param, "tokens[1]");
  EXPECT_EQ(read_template_request(json_object("{}"), test_model).error().param, "messages");
  EXPECT_EQ(read_template_request(json_object(R"({"messages":[{"role":"user","content":"a"}],"n":1})"), test_model)
                .error()
                .param,
            "n");
}

TEST(TokenizeAnswer, ListsTokensAndPieces) {
  const Tokenizer tokenizer = test_tokenizer();
  const std::vector<TokenId> tokens = {'h', 0xe2, tokenizer.find("<|end|>")};
  EXPECT_EQ(tokenize_answer({}, tokens, tokenizer), "{\"tokens\":[104,226," + std::to_string(tokens[2]) + "]}");
  EXPECT_EQ(tokenize_answer({}, {}, tokenizer), R"({"tokens":[]})");
  EXPECT_EQ(tokenize_answer({.tells_pieces = true}, tokens, tokenizer),
            R"({"tokens":[{"id":104,"piece":"h"},{"id":226,"piece":[226]},{"id":)" + std::to_string(tokens[2]) +
                R"(,"piece":"<|end|>"}]})");
}

TEST(TokenizeAnswer, HasItsFormsForTextsToo) {
  EXPECT_EQ(detokenize_answer("a\"b"), R"({"content":"a\"b"})");
  EXPECT_EQ(template_answer("a\n"), R"({"prompt":"a\n"})");
  EXPECT_EQ(read_detokenize_request(json_object(R"({"tokens":[]})"), test_model).value().tokens.size(), 0u);
  const auto read = read_template_request(
      json_object(R"({"messages":[{"role":"user","content":"a"}],"add_generation_prompt":false})"), test_model);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read.value().chat.add_generation_prompt);
}

TEST(ServerProperties, HaveLlamaServersForm) {
  ServerProperties properties = {.id = "a",
                                 .path = "/b.gguf",
                                 .chat_template = "{{ x }}",
                                 .begin_token = "<s>",
                                 .end_token = "</s>",
                                 .context = 512,
                                 .sequences = 2};
  properties.served.sampling.top_k = 20;
  const std::string json = properties_answer(properties);
  EXPECT_EQ(json,
            R"({"default_generation_settings":{"n_ctx":512,"params":{"seed":null,"temperature":1,"top_k":20,"top_p":1,)"
            R"("min_p":0,"repeat_penalty":1,"repeat_last_n":64,"presence_penalty":0,"frequency_penalty":0}},)"
            R"("total_slots":2,"model_alias":"a","model_path":"/b.gguf","chat_template":"{{ x }}","bos_token":"<s>",)"
            R"("eos_token":"</s>","modalities":{"vision":false,"audio":false}})");
  properties.served.seed = 42;
  EXPECT_EQ(at(json_value(properties_answer(properties)), "default_generation_settings.params.seed"), "42");
}

TEST(ModelCard, HasOpenAisFormAndLlamaServersMeta) {
  const ModelCard card = {.id = "a\"b",
                          .created = 5,
                          .vocabulary = 300,
                          .trained_context = 2048,
                          .context = 512,
                          .width = 64,
                          .parameters = 1000,
                          .bytes = 4000,
                          .makes_embeddings = true};
  const std::string json = model_answer(card);
  EXPECT_EQ(
      json,
      R"({"id":"a\"b","object":"model","created":5,"owned_by":"ingot","meta":{"n_vocab":300,"n_ctx":512,)"
      R"("n_ctx_train":2048,"n_embd":64,"n_params":1000,"size":4000,"has_chat_template":false,"makes_embeddings":true}})");
  EXPECT_EQ(model_list_answer(std::span(&card, 1)), "{\"object\":\"list\",\"data\":[" + json + "]}");
  EXPECT_EQ(model_list_answer({}), R"({"object":"list","data":[]})");
}

}  // namespace
}  // namespace ingot::protocol
