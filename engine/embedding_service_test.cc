#include "engine/embedding_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/embedding.h"
#include "engine/golden_model.h"
#include "engine/service_fixture.h"

namespace ingot {
namespace {

using Vectors = std::vector<std::vector<float>>;

// Its sums are those of the references, in which a row does not depend on its neighbours: whoever shares a pass, the
// vectors are the same.
class EmbeddingServiceTest : public testing::Test {
 protected:
  void serve(std::int64_t chunk = 256, EmbeddingServiceOptions options = {}) {
    service_.reset();
    session_ = golden_session("bert", {.context = 16,
                                       .sequences = 4,
                                       .chunk = chunk,
                                       .rewrites = false,
                                       .packing = WeightPacking::never,
                                       .forced = {{"linear.matmul", "reference"}}});
    ASSERT_NE(session_, nullptr);
    service_ = EmbeddingService::create(*session_, bell_, options).value();
  }

  // Told once.
  EmbeddingService::Listener into(std::optional<Vectors>& place) {
    return [&place](Result<Vectors> vectors) {
      EXPECT_FALSE(place);
      ASSERT_TRUE(vectors.ok()) << vectors.error().text();
      place = std::move(vectors).value();
    };
  }

  static std::vector<std::int32_t> text(std::int32_t number) {
    std::vector<std::int32_t> tokens;
    for (std::int32_t i = 0; i < 1 + number % 7; ++i) tokens.push_back((5 + 3 * number + i) % 50);
    return tokens;
  }

  Vectors alone(std::int32_t number) const {
    const auto session = golden_session("bert", session_->options());
    return embeddings_of(*session, text(number)).value();
  }

  Bell bell_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<EmbeddingService> service_;
};

TEST_F(EmbeddingServiceTest, TextsThatShareAPassGetTheVectorsThatEachGetsAlone) {
  serve();
  std::vector<std::optional<Vectors>> found(10);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_TRUE(service_->submit(text(static_cast<std::int32_t>(i)), into(found[i])).ok());
  }
  EXPECT_EQ(service_->counts().waiting, 10);
  while (service_->step()) {
  }
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], alone(static_cast<std::int32_t>(i)));
  const EmbeddingServiceCounts counts = service_->counts();
  EXPECT_EQ(counts.passes, 3);  // of four texts each at most
  EXPECT_EQ(counts.texts, 10);
  EXPECT_EQ(counts.waiting, 0);
}

TEST_F(EmbeddingServiceTest, APassIsNoLongerThanAChunkUnlessATextIs) {
  serve(8);
  std::vector<std::optional<Vectors>> found(5);
  const std::int32_t numbers[] = {2, 4, 6, 6, 2};  // 3, 5, 7, 7 and 3 tokens
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(service_->submit(text(numbers[i]), into(found[i])).ok());
  std::vector<std::size_t> told;
  while (service_->step()) {
    told.push_back(static_cast<std::size_t>(
        std::ranges::count_if(found, [](const auto& vectors) { return vectors.has_value(); })));
  }
  EXPECT_EQ(told, (std::vector<std::size_t>{2, 3, 4, 5}));
  serve(2);
  std::optional<Vectors> longer;
  ASSERT_TRUE(service_->submit(text(6), into(longer)).ok());
  EXPECT_TRUE(service_->step());
  EXPECT_EQ(longer, alone(6));
}

TEST_F(EmbeddingServiceTest, AskersTakeTurns) {
  serve(1);  // a text a pass
  std::vector<int> order;
  const auto submit = [&](int name, std::int64_t asker) {
    const auto told = [&order, name](const Result<Vectors>&) { order.push_back(name); };
    EXPECT_TRUE(service_->submit(text(0), told, asker).ok());
  };
  for (int i = 0; i < 3; ++i) submit(10 + i, 1);
  submit(20, 2);
  EXPECT_TRUE(service_->step());
  submit(30, 3);  // behind those who wait
  while (service_->step()) {
  }
  EXPECT_EQ(order, (std::vector<int>{10, 20, 11, 30, 12}));
}

TEST_F(EmbeddingServiceTest, RefusesWhatItCannotDoAndWhatHasToWaitTooLong) {
  serve(256, {.queue = 2});
  const auto ignore = [](const Result<Vectors>&) {};
  const auto refusal = [&](std::vector<std::int32_t> tokens) -> std::string {
    const Result<std::int64_t> number = service_->submit(std::move(tokens), ignore);
    return number.ok() ? "none" : std::string(number.error().text());
  };
  EXPECT_NE(refusal({}).find("at least one token"), std::string::npos);
  EXPECT_NE(refusal({-1}).find("found -1"), std::string::npos);
  const std::string longer = refusal(std::vector<std::int32_t>(17, 1));
  EXPECT_NE(longer.find("at most 16 tokens, found 17"), std::string::npos) << longer;
  EXPECT_FALSE(service_->submit({1}, nullptr).ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(refusal({1}), "none");
  const Result<std::int64_t> full = service_->submit({1}, ignore);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), ErrorCode::would_block);
  const auto llama = golden_session("llama", {.context = 16});
  EXPECT_FALSE(EmbeddingService::create(*llama, bell_).ok());
}

TEST_F(EmbeddingServiceTest, WhatIsCancelledIsToldNothing) {
  serve();
  std::optional<Vectors> kept;
  auto held = std::make_shared<int>();
  const auto never = [held](const Result<Vectors>&) { ADD_FAILURE() << "told all the same"; };
  const std::int64_t number = service_->submit(text(3), never).value();
  ASSERT_TRUE(service_->submit(text(4), into(kept)).ok());
  service_->cancel(number);
  service_->cancel(number);
  while (service_->step()) {
  }
  EXPECT_EQ(kept, alone(4));
  service_->cancel(number + 1);
}

TEST_F(EmbeddingServiceTest, TakesTextsFromAnyThread) {
  serve();
  std::atomic<int> told = 0, open = 3;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) {
        const auto count = [&told](const Result<Vectors>& vectors) { told += vectors.ok(); };
        EXPECT_TRUE(service_->submit(text(i), count, thread).ok());
        EXPECT_GE(service_->counts().waiting, 0);
      }
      --open;
      bell_.ring();
    });
  }
  run_while_open(*service_, bell_, open);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told, 30);
}

}  // namespace
}  // namespace ingot
