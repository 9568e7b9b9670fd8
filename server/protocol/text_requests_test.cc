#include "server/protocol/text_requests.h"

#include "server/protocol/completion_request.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

using Prompts = std::vector<std::vector<std::int32_t>>;

GenerationRequest generation_with(const std::string& fields) {
  return read_completion_request(json_object(R"({"prompt":"a",)" + fields + "}"), test_model).value().generation;
}

TEST(TextRequests, AreOneForEachPrompt) {
  const auto read =
      text_requests(generation_with(R"("seed":5,"n":2,"stop":"x","max_tokens":3)"), {{1, 2}, {3}}, 77, 1000);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value()[0].prompt, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(read.value()[1].prompt, (std::vector<std::int32_t>{3}));
  for (const TextRequest& text : read.value()) {
    EXPECT_EQ(text.most_tokens, 3);
    EXPECT_EQ(text.sampling.seed, 5u);
    EXPECT_EQ(text.stops.size(), 1u);
  }
}

TEST(TextRequests, FillTheRoomWhereNoLengthIsSaid) {
  GenerationRequest request = generation_with(R"("min_tokens":10)");
  request.most_tokens.reset();
  const auto read = text_requests(request, {{1, 2}}, 77, 1000);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value()[0].most_tokens, 75);
  EXPECT_EQ(read.value()[0].sampling.seed, 1000u);
}

TEST(TextRequests, HaveRoomForTheirShortestAnswer) {
  const auto code_of = [](const GenerationRequest& request, std::int64_t room) {
    const auto read = text_requests(request, {{1, 2}}, room, 0);
    return read.ok() ? "accepted" : read.error().code;
  };
  GenerationRequest request = generation_with(R"("min_tokens":10)");
  EXPECT_EQ(code_of(request, 18), "accepted");  // max_tokens is 16
  EXPECT_EQ(code_of(request, 17), "context_length_exceeded");
  request.most_tokens.reset();
  EXPECT_EQ(code_of(request, 12), "accepted");
  EXPECT_EQ(code_of(request, 11), "context_length_exceeded");
  request.text.least_tokens = 0;
  EXPECT_EQ(code_of(request, 3), "accepted");
  EXPECT_EQ(code_of(request, 2), "context_length_exceeded");
  EXPECT_EQ(code_of(request, 1), "context_length_exceeded");
}

TEST(TextRequests, BoundTheProbabilitiesOfAnAnswer) {
  const auto message_of = [](const std::string& fields, std::size_t prompt) {
    const Prompts prompts = {std::vector<std::int32_t>(prompt, 1), std::vector<std::int32_t>(prompt, 2)};
    const auto read = text_requests(generation_with(fields), prompts, 1'000'000, 0);
    if (read.ok()) return std::string("accepted");
    EXPECT_EQ(read.error().param, "logprobs");
    return read.error().message;
  };
  // Two prompts, five choices of each.
  EXPECT_EQ(message_of(R"("n":5,"logprobs":19,"max_tokens":5000)", 1), "accepted");
  const std::string refusal = message_of(R"("n":5,"logprobs":19,"max_tokens":5001)", 1);
  EXPECT_NE(refusal.find("1000000 probabilities"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("found 1000200"), std::string::npos) << refusal;
  EXPECT_EQ(message_of(R"("n":5,"max_tokens":5001)", 1), "accepted");
  EXPECT_EQ(message_of(R"("n":5,"logprobs":19,"max_tokens":5001,"stream":true)", 1), "accepted");
  EXPECT_EQ(message_of(R"("n":5,"logprobs":19,"max_tokens":1000,"echo":true)", 4000), "accepted");
  EXPECT_NE(message_of(R"("n":5,"logprobs":19,"max_tokens":1000,"echo":true)", 4001), "accepted");
  // A prompt's come at once, in a stream too.
  EXPECT_EQ(message_of(R"("n":5,"logprobs":19,"max_tokens":1000,"echo":true,"stream":true)", 5000), "accepted");
  EXPECT_NE(message_of(R"("n":5,"logprobs":19,"max_tokens":1000,"echo":true,"stream":true)", 5001), "accepted");
}

}  // namespace
}  // namespace ingot::protocol
