#include "engine/session.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Session, SaysWhatToDoWhereATextIsTooLong) {
  const auto session = golden_session("llama", {.context = 4});
  ASSERT_NE(session, nullptr);
  const int sequence = session->sequences().add().value();
  const std::int32_t tokens[] = {5, 9, 2, 40, 7};
  const Result<View<const float>> found = session->forward({sequence, tokens, Wanted::last});
  ASSERT_FALSE(found.ok());
  const std::string limit = std::to_string(session->model().facts().context);
  for (const std::string& part : {std::string("at most 4 tokens"), std::string("found 5"), std::string("--context"),
                                  "this model's limit is " + limit}) {
    EXPECT_NE(found.error().text().find(part), std::string_view::npos) << found.error().text();
  }
  const auto full = golden_session("llama", {.context = session->model().facts().context});
  ASSERT_NE(full, nullptr);
  const Result<void> room = full->require_room(full->sequences().add().value(), full->context() + 1);
  ASSERT_FALSE(room.ok());
  EXPECT_NE(room.error().text().find("give a shorter text"), std::string_view::npos) << room.error().text();
}

TEST(Session, TellsHowManyTokensOfAPromptAreThrough) {
  const auto session = golden_session("llama", {.context = 16, .chunk = 2});
  ASSERT_NE(session, nullptr);
  std::vector<std::int64_t> seen;
  session->follow([&](std::int64_t done, std::int64_t tokens) {
    EXPECT_EQ(tokens, 5);
    seen.push_back(done);
  });
  const int sequence = session->sequences().add().value();
  const std::int32_t tokens[] = {5, 9, 2, 40, 7};
  ASSERT_TRUE(session->forward({sequence, tokens, Wanted::last}).ok());
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 5);
  for (const std::int64_t after_a_pass : {2, 4}) EXPECT_GT(std::count(seen.begin(), seen.end(), after_a_pass), 0);
  seen.clear();
  ASSERT_TRUE(session->forward({sequence, std::span(tokens).first(1), Wanted::last}).ok());
  EXPECT_TRUE(seen.empty());  // nobody waits for one token
}

TEST(Session, TheCacheHasAsManyPagesAsItsMemoryHasRoomFor) {
  const SessionOptions options = {.context = 16, .sequences = 4, .page_length = 4};
  const auto whole = golden_session("llama", options);
  ASSERT_NE(whole, nullptr);
  ASSERT_EQ(whole->geometry().pages, 16);
  const std::size_t page = whole->sequences().bytes() / 16;
  for (const std::int64_t pages : {1, 5, 16, 99}) {
    SessionOptions bounded = options;
    bounded.cache_memory = Bytes(static_cast<std::size_t>(pages) * page + page / 2);
    const auto session = golden_session("llama", bounded);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->geometry().pages, std::min<std::int64_t>(pages, 16));
    EXPECT_LE(session->sequences().most_bytes(), bounded.cache_memory.count());
  }
  SessionOptions too_little = options;
  too_little.cache = DType::f32;
  too_little.cache_memory = Bytes(page - 1);
  const Result<std::unique_ptr<Session>> session =
      Session::create(Model::open(golden_folder("llama")).value(), too_little);
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.error().text().find("--cache-memory"), std::string_view::npos) << session.error().text();
}

TEST(Session, StatesAndRingsCountAsMemoryOfTheCache) {
  for (const char* architecture : {"mamba", "gemma3_text"}) {
    const SessionOptions options = {.context = 64, .sequences = 4, .page_length = 4, .chunk = 4};
    SessionOptions bounded = options;
    bounded.cache_memory = Bytes(1 << 30);
    const auto session = golden_session(architecture, bounded);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->geometry().pages, 64);
    bounded.cache_memory = Bytes(1);
    EXPECT_FALSE(Session::create(Model::open(golden_folder(architecture)).value(), bounded).ok()) << architecture;
  }
}

TEST(Session, TellsTheTimeThatPlansTook) {
  const auto session = golden_session("llama", {.context = 16});
  ASSERT_NE(session, nullptr);
  const int sequence = session->sequences().add().value();
  const std::int32_t tokens[] = {5, 9, 2};
  std::vector<double> seconds;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(session->forward({sequence, tokens, Wanted::last}).ok());
    seconds.push_back(session->planning_seconds());
  }
  EXPECT_GT(seconds[0], 0);
  EXPECT_EQ(seconds[1], 0) << "the shape was known";
}

}  // namespace
}  // namespace ingot
