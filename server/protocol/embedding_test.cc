#include <cmath>

#include "server/protocol/embedding_answer.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

Outcome<EmbeddingRequest> read_embedding(std::string_view json, const ServedModel& model = test_model) {
  return read_embedding_request(json_object(json), model);
}

std::string param_refused(std::string_view json, const ServedModel& model = test_model) {
  const Outcome<EmbeddingRequest> read = read_embedding(json, model);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.error().status, 400);
  return read.error().param;
}

TEST(EmbeddingRequest, TakesTextsAndTokens) {
  const auto read = read_embedding(R"({"model":"m","input":["a","b"],"encoding_format":"base64","user":"u"})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().inputs.size(), 2u);
  EXPECT_EQ(read.value().form, VectorForm::base64);
  EXPECT_EQ(read.value().dimensions, 4);
  EXPECT_EQ(read_embedding(R"({"input":[[1,2],[3]]})").value().inputs.size(), 2u);
  EXPECT_EQ(read_embedding(R"({"input":"a","dimensions":2})").value().dimensions, 2);
}

TEST(EmbeddingRequest, RefusesByName) {
  EXPECT_EQ(param_refused("{}"), "input");
  EXPECT_EQ(param_refused(R"({"input":""})"), "input");
  EXPECT_EQ(param_refused(R"({"input":["a",""]})"), "input");
  EXPECT_EQ(param_refused(R"({"input":[300]})"), "input[0]");
  EXPECT_EQ(param_refused(R"({"input":"a","dimensions":5})"), "dimensions");
  EXPECT_EQ(param_refused(R"({"input":"a","dimensions":0})"), "dimensions");
  EXPECT_EQ(param_refused(R"({"input":"a","encoding_format":"int8"})"), "encoding_format");
  EXPECT_EQ(param_refused(R"({"input":"a","user":1})"), "user");
  EXPECT_EQ(param_refused(R"({"input":"a","foo":1})"), "foo");
  EXPECT_EQ(param_refused(R"({"input":"a"})", {.vocabulary = 300}), "model");
  std::string many = R"({"input":["a")";
  for (std::size_t count = 1; count <= most_inputs; ++count) many += ",\"a\"";
  EXPECT_EQ(param_refused(many + "]}"), "input");
}

TEST(EmbeddingAnswer, ListsVectors) {
  EmbeddingRequest request = read_embedding(R"({"input":["a","b"]})").value();
  const std::vector<float> vectors[] = {{0.5f, -0.5f, 0.5f, 0.5f}, {1, 0, 0, 0}};
  EXPECT_EQ(embedding_answer("m", request, vectors, 7),
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-0.5,0.5,0.5]},)"
            R"({"object":"embedding","index":1,"embedding":[1,0,0,0]}],"model":"m",)"
            R"("usage":{"prompt_tokens":7,"total_tokens":7}})");
  request.form = VectorForm::base64;
  // As Python's struct and base64 have it.
  EXPECT_EQ(at(json_value(embedding_answer("m", request, vectors, 7)), "data.0.embedding"),
            R"("AAAAPwAAAL8AAAA/AAAAPw==")");
}

TEST(EmbeddingAnswer, DividesWhatIsCutByItsLengthAgain) {
  const EmbeddingRequest request = read_embedding(R"({"input":["a","b"],"dimensions":2})").value();
  const std::vector<float> vectors[] = {{0.3f, 0.4f, 0.5f, 0.6f}, {0, 0, 1, 0}};
  const chat::Value answer = json_value(embedding_answer("m", request, vectors, 7));
  EXPECT_EQ(at(answer, "data.0.embedding"), "[0.6,0.8]");
  EXPECT_EQ(at(answer, "data.1.embedding"), "[0,0]");
}

}  // namespace
}  // namespace ingot::protocol
