#include "server/protocol/api_error.h"

#include <array>

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

TEST(ApiError, HasOpenAisForm) {
  const ApiError error = wrong_field("temperature", "expected \"1\", found\n2");
  EXPECT_EQ(error.status, 400);
  EXPECT_EQ(error.json(), R"({"error":{"message":"expected \"1\", found\n2","type":"invalid_request_error",)"
                          R"("param":"temperature","code":null}})");
  EXPECT_EQ(error.event(), "data: " + error.json() + "\n\n");
  EXPECT_EQ(at(json_value(wrong_key(false).json()), "error.param"), "null");
}

TEST(ApiError, IsJsonWhateverItTells) {
  EXPECT_EQ(at(json_value(unknown_path("/\xFF\"\\\x01").json()), "error.code"), "\"unknown_path\"");
}

TEST(ApiError, HasAStatusForEveryCase) {
  const std::array<std::string, 2> models = {"chat", "embed"};
  const std::pair<ApiError, int> cases[] = {{wrong_body("x"), 400},
                                            {not_served_yet("tools", "tools"), 400},
                                            {context_length_exceeded(10, 20, 16), 400},
                                            {wrong_template("x"), 400},
                                            {no_template("x"), 400},
                                            {wrong_key(true), 401},
                                            {forbidden("x"), 403},
                                            {unknown_path("/x"), 404},
                                            {unknown_model("x", models), 404},
                                            {wrong_method("PUT", "/x", "GET, HEAD"), 405},
                                            {wrong_content_type("text/plain"), 415},
                                            {queue_full(3), 429},
                                            {unavailable("x", 5), 503},
                                            {deadline_passed(1), 504},
                                            {http_error(431, "x"), 431}};
  for (const auto& [error, status] : cases) {
    EXPECT_EQ(error.status, status) << error.message;
    EXPECT_FALSE(error.message.empty()) << status;
    EXPECT_FALSE(error.type.empty()) << status;
    json_value(error.json());
  }
}

TEST(ApiError, SaysTheNumbersAndNamesThatWereExpectedAndFound) {
  const std::array<std::string, 2> models = {"chat", "embed"};
  const ApiError model = unknown_model("gpt", models);
  EXPECT_EQ(model.message, "expected one of the models that are served (chat, embed), found 'gpt'");
  EXPECT_EQ(model.param, "model");
  EXPECT_EQ(model.code, "model_not_found");
  const ApiError context = context_length_exceeded(2000, 100, 2048);
  EXPECT_EQ(context.code, "context_length_exceeded");
  for (const std::string_view number : {"2000", "100", "2048"}) {
    EXPECT_NE(context.message.find(number), std::string::npos) << context.message;
  }
  EXPECT_EQ(at(json_value(context.json()), "error.type"), "\"exceed_context_size_error\"");
  EXPECT_EQ(at(json_value(context.json()), "error.n_prompt_tokens"), "2000");
  EXPECT_EQ(at(json_value(input_too_large(9, 8).json()), "error.n_ctx"), "8");
  EXPECT_EQ(at(json_value(model.json()), "error.n_ctx"), "absent");
  EXPECT_EQ(queue_full(7).retry_after_seconds, 7);
  EXPECT_EQ(unavailable("draining", 30).retry_after_seconds, 30);
}

TEST(ApiError, SaysWhatToDo) {
  EXPECT_EQ(
      wrong_key(false).message,
      "expected an API key that this server knows, as 'Authorization: Bearer KEY' or 'X-Api-Key: KEY', found none: "
      "send one of those that it was started with");
  EXPECT_NE(wrong_key(true).message.find("found another: send"), std::string::npos);
  EXPECT_EQ(wrong_content_type("text/plain").message,
            "expected a body of the type application/json, found 'text/plain': send JSON, with the header "
            "'Content-Type: application/json'");
  EXPECT_EQ(
      deadline_passed(1.23456).message,
      "expected an answer within the time that the server's --deadline gives a request, found none after 1.235 s: "
      "ask for fewer tokens, or again when fewer others ask");
  EXPECT_EQ(
      no_template("tales").message,
      "expected a model with a chat template, found none in tales: ask /v1/completions, or have the server started "
      "with --template");
}

TEST(ApiError, TellsWhatTheEngineRefused) {
  const auto status = [](ErrorCode code) { return engine_error(Error::of(code, "because"), 2).status; };
  EXPECT_EQ(status(ErrorCode::invalid_argument), 400);
  EXPECT_EQ(status(ErrorCode::out_of_range), 400);
  EXPECT_EQ(status(ErrorCode::would_block), 429);
  EXPECT_EQ(status(ErrorCode::out_of_memory), 503);
  EXPECT_EQ(status(ErrorCode::corrupt), 500);
  EXPECT_EQ(engine_error(Error::of(ErrorCode::would_block, "full"), 2).retry_after_seconds, 2);
}

TEST(Outcome, HoldsAValueOrAnError) {
  const auto half = [](int number) -> Outcome<int> {
    if (number % 2 != 0) return wrong_field("number", "expected an even one");
    return number / 2;
  };
  const auto quarter = [&](int number) -> Outcome<int> {
    const int halved = TRY(half(number));
    return half(halved);
  };
  EXPECT_EQ(quarter(8).value(), 2);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().param, "number");
}

}  // namespace
}  // namespace ingot::protocol
