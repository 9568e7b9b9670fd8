#include "engine/session.h"

#include <gtest/gtest.h>

#include "engine/golden_model.h"

namespace ingot {
namespace {

TEST(Session, EmbeddingsLeaveNothingBehind) {
  const auto session = golden_session("bert", {.context = 16});
  ASSERT_NE(session, nullptr);
  const int sequence = session->sequences().add().value();
  const std::int32_t tokens[] = {5, 9, 2, 40, 7, 3};
  std::vector<std::vector<float>> vectors;
  for (int round = 0; round < 4; ++round) {  // more tokens than the context holds
    const Result<View<const float>> found = session->forward({sequence, tokens, Wanted::all});
    ASSERT_TRUE(found.ok()) << found.error().text();
    vectors.emplace_back(found.value().data(), found.value().data() + found.value().count());
    EXPECT_EQ(session->sequences().length(sequence), 0);
    EXPECT_EQ(vectors.back(), vectors.front());
  }
}

TEST(Session, RefusesMorePagesThanCanBeNumbered) {
  const Result<std::shared_ptr<const Model>> model = Model::open(golden_folder("llama"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Result<std::unique_ptr<Session>> session =
      Session::create(model.value(), {.context = std::int64_t{1} << 30, .sequences = 2, .page_length = 1});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::out_of_range);
}

}  // namespace
}  // namespace ingot
