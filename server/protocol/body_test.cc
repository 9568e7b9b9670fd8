#include "server/protocol/body.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

std::string refusal(std::string_view body) {
  const Outcome<chat::Dictionary> read = read_body(body);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.error().status, 400);
  EXPECT_EQ(read.error().code, "invalid_json");
  return read.error().message;
}

TEST(Body, IsAnObject) {
  EXPECT_TRUE(read_body(R"({"model":"x","messages":[]})").ok());
  EXPECT_EQ(refusal("[1,2]"), "expected a JSON object, found a list of 2");
  EXPECT_EQ(refusal("3.5"), "expected a JSON object, found 3.5");
  EXPECT_NE(refusal(""), "accepted");
}

TEST(Body, NamesTheByteThatIsWrong) {
  EXPECT_EQ(refusal("{\"a\":\"\xC3\x28\"}"), "expected a body in UTF-8, found byte 195 at offset 6");
  EXPECT_EQ(refusal("{\"a\":\"\xED\xA0\x80\"}"), "expected a body in UTF-8, found byte 237 at offset 6");
  EXPECT_NE(refusal(R"({"a":1,})").find("at byte 8"), std::string::npos) << refusal(R"({"a":1,})");
  EXPECT_EQ(refusal("\xEF\xBB\xBF{}"), "expected JSON, found a byte order mark at offset 0");
}

TEST(Body, IsAtMostAHundredDeep) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_EQ(refusal(nested(100)), "accepted");
  EXPECT_NE(refusal(nested(101)).find("100 levels"), std::string::npos);
  EXPECT_NE(refusal(std::string(1'000'000, '[')), "accepted");
}

TEST(Body, TakesTheLastOfEqualKeys) {
  const Outcome<chat::Dictionary> body = read_body(R"({"model":"a","model":"b"})");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(model_of(body.value()).value(), "b");
}

TEST(Body, NamesItsModel) {
  EXPECT_EQ(model_of(json_object("{}")).value(), std::nullopt);
  EXPECT_EQ(model_of(json_object(R"({"model":null})")).value(), std::nullopt);
  const auto wrong = model_of(json_object(R"({"model":5})"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().param, "model");
  EXPECT_EQ(wrong.error().message, "model: expected a text, found 5");
}

TEST(Body, ReadsJsonAsTheOutsideSuiteSays) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  const std::filesystem::path folder = std::filesystem::path(root == nullptr ? "" : root) / "json-parsing";
  if (root == nullptr || !std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no json-parsing";
  }
  int accepted = 0, refused = 0, either = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    const bool is_accepted = read_json(json).ok();
    switch (name.front()) {
      case 'y':
        EXPECT_TRUE(is_accepted) << name;
        ++accepted;
        break;
      case 'n':
        EXPECT_FALSE(is_accepted) << name;
        ++refused;
        break;
      default: ++either; break;
    }
  }
  std::printf("JSON: %d texts to accept, %d to refuse, %d where either is right\n", accepted, refused, either);
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace ingot::protocol
