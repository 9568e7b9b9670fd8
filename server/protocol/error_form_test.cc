#include "server/protocol/error_form.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

TEST(ErrorForm, IsThatInWhichTheClientAsks) {
  const ApiError error = wrong_field("max_tokens", "max_tokens: expected \"more\"");
  EXPECT_EQ(error_json(error, ErrorForm::openai, "req_1"), error.json());
  EXPECT_EQ(error_json(error, ErrorForm::anthropic, "req_1"),
            R"({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: expected \"more\""},)"
            R"("request_id":"req_1"})");
  EXPECT_EQ(at(json_value(error_json(error, ErrorForm::anthropic)), "request_id"), "absent");
}

TEST(ErrorForm, HasAnthropicsWords) {
  const auto type_of_status = [](int status) {
    return at(json_value(error_json(http_error(status, "x"), ErrorForm::anthropic)), "error.type");
  };
  EXPECT_EQ(type_of_status(400), "\"invalid_request_error\"");
  EXPECT_EQ(type_of_status(401), "\"authentication_error\"");
  EXPECT_EQ(type_of_status(403), "\"permission_error\"");
  EXPECT_EQ(type_of_status(404), "\"not_found_error\"");
  EXPECT_EQ(type_of_status(405), "\"invalid_request_error\"");
  EXPECT_EQ(type_of_status(413), "\"request_too_large\"");
  EXPECT_EQ(type_of_status(429), "\"rate_limit_error\"");
  EXPECT_EQ(type_of_status(500), "\"api_error\"");
  EXPECT_EQ(type_of_status(503), "\"overloaded_error\"");
  EXPECT_EQ(type_of_status(504), "\"timeout_error\"");
}

}  // namespace
}  // namespace ingot::protocol
