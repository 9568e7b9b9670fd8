#include "engine/embedding_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/embedding.h"
#include "engine/golden_model.h"
#include "engine/service_fixture.h"
#include "engine/session_guards.h"

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
  static VectorRequest into(std::optional<VectorEnding>& place, std::vector<std::vector<std::int32_t>> texts) {
    return {.texts = std::move(texts), .listener = [&place](VectorEnding ending) {
              EXPECT_FALSE(place);
              place = std::move(ending);
            }};
  }

  // Whether so many texts find a place to wait.
  bool takes(std::int64_t asker, std::size_t texts) {
    VectorRequest request = {.texts = std::vector(texts, text(0)), .asker = asker};
    request.listener = [](const VectorEnding&) {};
    const Result<std::int64_t> number = service_->submit(std::move(request));
    if (number.ok()) return true;
    EXPECT_EQ(number.error().code(), ErrorCode::would_block);
    return false;
  }

  void run() {
    while (service_->step()) {
    }
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
  std::vector<std::optional<VectorEnding>> found(5);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto first = static_cast<std::int32_t>(2 * i);
    ASSERT_TRUE(service_->submit(into(found[i], {text(first), text(first + 1)})).ok());
  }
  EXPECT_EQ(service_->counts().waiting, 5);
  EXPECT_TRUE(service_->step());  // of four texts at most
  EXPECT_EQ(service_->counts().waiting, 3);
  run();
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto first = static_cast<std::int32_t>(2 * i);
    ASSERT_TRUE(found[i]);
    EXPECT_EQ(found[i]->end, GenerationEnd::model);
    EXPECT_EQ(found[i]->vectors, (std::vector{alone(first), alone(first + 1)}));
    EXPECT_EQ(found[i]->counts.prompt, std::ssize(text(first)) + std::ssize(text(first + 1)));
    tokens += found[i]->counts.prompt;
  }
  const ServiceCounts counts = service_->counts();
  EXPECT_EQ(counts.prompt_passes, 3);
  EXPECT_EQ(counts.prompt_tokens, tokens);
  EXPECT_EQ(counts.prompt_rows, tokens);
  EXPECT_EQ(counts.waiting, 0);
  EXPECT_EQ(counts.running, 0);
}

TEST_F(EmbeddingServiceTest, APassIsNoLongerThanAChunkUnlessATextIs) {
  serve(8);
  std::vector<std::optional<VectorEnding>> found(5);
  const std::int32_t numbers[] = {2, 4, 6, 6, 2};  // 3, 5, 7, 7 and 3 tokens
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_TRUE(service_->submit(into(found[i], {text(numbers[i])})).ok());
  }
  std::vector<std::size_t> told;
  while (service_->step()) {
    told.push_back(
        static_cast<std::size_t>(std::ranges::count_if(found, [](const auto& ending) { return ending.has_value(); })));
  }
  EXPECT_EQ(told, (std::vector<std::size_t>{2, 3, 4, 5}));
  serve(2);
  std::optional<VectorEnding> longer;
  ASSERT_TRUE(service_->submit(into(longer, {text(6)})).ok());
  EXPECT_TRUE(service_->step());
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->vectors, std::vector<Vectors>{alone(6)});
}

// One that predicts tokens sees what is before each and nothing else: a chunk is as much as a pass needs to hold.
TEST_F(EmbeddingServiceTest, ALongTextOfAModelThatPredictsTokensIsReadInChunks) {
  const std::vector<std::int32_t> tokens = {7, 3, 11, 5, 2, 19, 23, 4, 31, 8, 6};
  Vectors whole;
  for (const std::int64_t chunk : {16, 4}) {
    const auto model = Model::open(golden_folder("llama"), {.embeds = true, .pooling = Pooling::mean}).value();
    session_ = Session::create(model, {.cache = DType::f32, .context = 16, .sequences = 2, .chunk = chunk}).value();
    service_ = EmbeddingService::create(*session_, bell_).value();
    std::int64_t passes = 0;
    session_->observe([&](std::size_t step) { passes += step == 0 ? 1 : 0; });
    std::optional<VectorEnding> found;
    ASSERT_TRUE(service_->submit(into(found, {tokens})).ok());
    run();
    ASSERT_TRUE(found);
    ASSERT_EQ(found->end, GenerationEnd::model);
    if (whole.empty()) whole = found->vectors.front();
    ASSERT_EQ(found->vectors.front().size(), 1);
    for (std::size_t index = 0; index < whole.front().size(); ++index) {
      EXPECT_NEAR(found->vectors.front().front()[index], whole.front()[index], 1e-5) << index;
    }
    EXPECT_EQ(passes, (std::ssize(tokens) + chunk - 1) / chunk);
    service_.reset();
  }
}

TEST_F(EmbeddingServiceTest, AskersTakeTurns) {
  serve(1);  // a text a pass
  std::vector<int> order;
  const auto submit = [&](int name, std::int64_t asker, std::size_t texts = 1) {
    const auto told = [&order, name](const VectorEnding&) { order.push_back(name); };
    EXPECT_TRUE(service_->submit({.texts = std::vector(texts, text(0)), .asker = asker, .listener = told}).ok());
  };
  for (int i = 0; i < 3; ++i) submit(10 + i, 1);
  submit(20, 2);
  EXPECT_TRUE(service_->step());
  submit(30, 3);  // behind those who wait
  run();
  EXPECT_EQ(order, (std::vector<int>{10, 20, 11, 30, 12}));
  order.clear();
  submit(10, 1, 3);  // its texts take turns with those of others, too
  submit(20, 2, 2);
  submit(30, 3);
  EXPECT_TRUE(service_->step());
  EXPECT_EQ(service_->counts().running, 1);
  EXPECT_EQ(service_->counts().waiting, 2);
  run();
  EXPECT_EQ(order, (std::vector<int>{30, 20, 10}));
}

TEST_F(EmbeddingServiceTest, RefusesWhatItCannotDo) {
  serve();
  const auto refusal = [&](std::vector<std::vector<std::int32_t>> texts) -> std::string {
    const auto never = [](const VectorEnding&) { ADD_FAILURE() << "told all the same"; };
    const Result<std::int64_t> number = service_->submit({.texts = std::move(texts), .listener = never});
    return number.ok() ? "none" : std::string(number.error().text());
  };
  EXPECT_NE(refusal({}).find("at least one text"), std::string::npos);
  EXPECT_NE(refusal({{1}, {}}).find("at least one token"), std::string::npos);
  EXPECT_NE(refusal({{1}, {-1}}).find("found -1"), std::string::npos);
  const std::string longer = refusal({{1}, std::vector<std::int32_t>(17, 1)});
  EXPECT_NE(longer.find("at most 16 tokens, found 17"), std::string::npos) << longer;
  EXPECT_FALSE(service_->submit({.texts = {{1}}}).ok());
  EXPECT_FALSE(service_->step());
  const auto llama = golden_session("llama", {.context = 16});
  EXPECT_FALSE(EmbeddingService::create(*llama, bell_).ok());
}

TEST_F(EmbeddingServiceTest, RequestsAndTextsThatWaitAreBounded) {
  serve(1, {.queue = 2, .queued_texts = 5});
  EXPECT_TRUE(takes(1, 9));  // whoever comes alone may come
  EXPECT_FALSE(takes(1, 1));
  EXPECT_TRUE(service_->step());  // one text of nine: the others wait
  EXPECT_FALSE(takes(1, 1));
  run();
  EXPECT_TRUE(takes(1, 1));
  EXPECT_TRUE(takes(1, 2));
  EXPECT_FALSE(takes(1, 1));
  EXPECT_TRUE(service_->step());  // the first waits no more
  EXPECT_TRUE(takes(1, 1));
}

TEST_F(EmbeddingServiceTest, WhoFillsTheQueueLeavesPlacesForOthers) {
  serve(1, {.queue = 4, .queued_texts = 100});
  const auto fill = [this](std::int64_t asker) {
    int count = 0;
    while (takes(asker, 1)) ++count;
    return count;
  };
  EXPECT_EQ(fill(1), 4);
  EXPECT_EQ(fill(2), 2);
  EXPECT_EQ(fill(3), 1);
  run();
  serve(1, {.queue = 100, .queued_texts = 8});
  EXPECT_TRUE(takes(1, 8));
  EXPECT_FALSE(takes(1, 1));
  EXPECT_TRUE(takes(2, 4));
  EXPECT_FALSE(takes(2, 1));
  service_->cancel_all();
  EXPECT_TRUE(takes(1, 8));
}

TEST_F(EmbeddingServiceTest, WhatIsCancelledIsToldSo) {
  serve(1);
  std::optional<VectorEnding> waiting, running, kept;
  const std::int64_t first = service_->submit(into(running, {text(3), text(3)})).value();
  const std::int64_t second = service_->submit(into(waiting, {text(4)})).value();
  ASSERT_TRUE(service_->submit(into(kept, {text(5)})).ok());
  EXPECT_TRUE(service_->step());
  for (const std::int64_t number : {first, second, second, second + 7}) service_->cancel(number);
  EXPECT_FALSE(running || waiting);  // nobody is told but by the thread of passes
  run();
  ASSERT_TRUE(running && waiting && kept);
  EXPECT_EQ(running->end, GenerationEnd::cancelled);
  EXPECT_TRUE(running->vectors.empty());
  EXPECT_EQ(waiting->end, GenerationEnd::cancelled);
  EXPECT_EQ(kept->vectors, std::vector<Vectors>{alone(5)});
  EXPECT_EQ(service_->counts().prompt_passes, 2);  // the second text of the first was not computed
  EXPECT_EQ(service_->counts().running, 0);
  EXPECT_EQ(service_->counts().waiting, 0);
}

TEST_F(EmbeddingServiceTest, WhoeverIsLeftAtTheEndIsTold) {
  serve(1);
  std::optional<VectorEnding> begun, waiting, late;
  ASSERT_TRUE(service_->submit(into(begun, {text(3), text(3)})).ok());
  ASSERT_TRUE(service_->submit(into(waiting, {text(3)})).ok());
  EXPECT_TRUE(service_->step());
  service_->cancel_all();
  ASSERT_TRUE(begun && waiting);
  EXPECT_EQ(begun->end, GenerationEnd::cancelled);
  EXPECT_EQ(waiting->end, GenerationEnd::cancelled);
  EXPECT_FALSE(service_->step());
  ASSERT_TRUE(service_->submit(into(late, {text(3)})).ok());
  service_.reset();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->end, GenerationEnd::cancelled);
}

TEST_F(EmbeddingServiceTest, ADeadlineEndsWhatWaitsAndWhatHasBegun) {
  using Clock = std::chrono::steady_clock;
  serve(1);
  std::optional<VectorEnding> begun, waiting, kept;
  const Clock::time_point soon = Clock::now() + std::chrono::milliseconds(20),
                          much_later = soon + std::chrono::hours(1);
  VectorRequest request = into(begun, std::vector(2, text(3)));
  request.deadline = soon;
  ASSERT_TRUE(service_->submit(request).ok());
  service_->step();
  for (std::optional<VectorEnding>* place : {&waiting, &kept}) {
    request = into(*place, {text(4)});
    request.deadline = place == &kept ? much_later : soon;
    ASSERT_TRUE(service_->submit(request).ok());
  }
  EXPECT_EQ(service_->earliest_deadline(), soon);
  std::this_thread::sleep_until(soon);
  run();
  ASSERT_TRUE(begun && waiting && kept);
  EXPECT_EQ(begun->end, GenerationEnd::deadline);
  EXPECT_TRUE(begun->vectors.empty());
  EXPECT_EQ(waiting->end, GenerationEnd::deadline);
  EXPECT_EQ(kept->vectors, std::vector<Vectors>{alone(4)});
  EXPECT_EQ(service_->earliest_deadline(), std::nullopt);
}

// All sequences are somebody else's, so that no pass succeeds.
TEST_F(EmbeddingServiceTest, OneTextThatFailsEndsItsRequestAndNoOther) {
  serve();
  std::vector<std::optional<VectorEnding>> failed(2);
  ASSERT_TRUE(service_->submit(into(failed[0], std::vector(9, text(3)))).ok());
  {
    OwnSequences others(*session_);
    while (others.add().ok()) {
    }
    EXPECT_TRUE(service_->step());
    ASSERT_TRUE(failed[0]);
    EXPECT_EQ(failed[0]->end, GenerationEnd::failed);
    ASSERT_TRUE(failed[0]->error);
    EXPECT_TRUE(failed[0]->vectors.empty());
    EXPECT_FALSE(service_->step());  // nor do its other texts wait
    EXPECT_EQ(service_->counts().running, 0);
  }
  ASSERT_TRUE(service_->submit(into(failed[1], {text(3)})).ok());
  run();
  ASSERT_TRUE(failed[1]);
  EXPECT_EQ(failed[1]->vectors, std::vector<Vectors>{alone(3)});
}

TEST_F(EmbeddingServiceTest, TakesTextsFromAnyThread) {
  serve();
  std::atomic<int> told = 0, open = 3;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) {
        const auto count = [&told](const VectorEnding& ending) { told += ending.end == GenerationEnd::model; };
        EXPECT_TRUE(service_->submit({.texts = {text(i)}, .asker = thread, .listener = count}).ok());
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
