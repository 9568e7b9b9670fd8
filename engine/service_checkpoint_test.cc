// Models with windows or states share texts by checkpoints. Whoever continues from one must compute what it computes
// from the beginning: bit for bit where the same passes follow, and where the session is deterministic in whatever
// passes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "engine/cache_budget.h"
#include "engine/golden_model.h"
#include "engine/service_fixture.h"

namespace ingot {
namespace {

constexpr std::int64_t small_distance = 2 * small_page;

class ServiceCheckpointTest : public ServiceTest, public testing::WithParamInterface<std::string> {
 protected:
  ServiceCheckpointTest() { model_ = Model::open(golden_folder(GetParam())).value(); }

  SessionOptions options(int sequences, std::int64_t pages) const override {
    SessionOptions options = ServiceTest::options(sequences, pages);
    options.chunk = 24;  // a ring for longer passes would be longer than some texts
    options.checkpoint_distance = small_distance;
    options.checkpoints = checkpoints_;
    options.cache_memory = memory_;
    return options;
  }

  std::vector<std::int32_t> text(std::int64_t length, std::uint64_t seed) const {
    RandomNumbers random(seed);
    std::vector<std::int32_t> tokens;
    const auto vocabulary = static_cast<std::uint64_t>(model_->facts().vocabulary);
    while (std::ssize(tokens) < length) tokens.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
    return tokens;
  }

  static TextRequest request_of(std::vector<std::int32_t> prompt, std::int64_t tokens) {
    return {.prompt = std::move(prompt), .most_tokens = tokens, .ignores_end = true, .most_likely = 2};
  }

  HeardListener ask(const TextRequest& asked) {
    const HeardListener listener = std::make_shared<Heard>();
    submit(asked, listener);
    return listener;
  }

  // Computed from the beginning, with nobody there, by a session of its own.
  HeardListener heard_alone(const TextRequest& asked) {
    SessionOptions plain = options(1, 0);
    plain.chunk = 64;
    plain.checkpoint_distance = plain.context;
    plain.cache_memory = Bytes{0};
    std::unique_ptr<Session> session = Session::create(model_, plain).value();
    session.swap(session_);
    std::unique_ptr<Service> service = Service::create(*session_, tokenizer(), bell_).value();
    service.swap(service_);
    const HeardListener listener = ask(asked);
    while (service_->step()) {
    }
    service.swap(service_);
    service.reset();
    session.swap(session_);
    return listener;
  }

  static void expect_same(const Heard& heard, const Heard& expected) {
    EXPECT_EQ(heard.ended, GenerationEnd::token_limit) << heard.reason;
    EXPECT_EQ(heard.tokens, expected.tokens);
    ASSERT_EQ(heard.scores.size(), expected.scores.size());
    for (std::size_t i = 0; i < heard.scores.size(); ++i) {
      ASSERT_EQ(heard.scores[i].log_probability, expected.scores[i].log_probability) << "of token " << i;
    }
  }

  void expect_as_alone(const TextRequest& asked, const Heard& heard) { expect_same(heard, *heard_alone(asked)); }

  std::int64_t checkpoints_ = 0;
  Bytes memory_{0};
};

TEST_P(ServiceCheckpointTest, FromACheckpointTheSamePassesGiveTheSameBits) {
  for (const bool is_deterministic : {true, false}) {
    SessionOptions options = this->options(3, 0);
    options.deterministic = is_deterministic;
    session_ = Session::create(model_, options).value();
    SequenceMemory& sequences = session_->sequences();
    const std::vector<std::int32_t> tokens = text(100, 1);
    const auto forward = [&](int sequence, std::int64_t end) {
      const auto begin = static_cast<std::size_t>(sequences.length(sequence));
      const std::span run(tokens.data() + begin, static_cast<std::size_t>(end) - begin);
      const View<const float> logits = session_->forward({sequence, run, Wanted::all}).value();
      sequences.publish(sequence, 0, tokens);
      return std::vector<float>(logits.data(), logits.data() + logits.count());
    };
    for (const std::int64_t kept : {8, 24, 48, 80}) {
      const std::int64_t ends[] = {kept + 3, kept + 4, kept + 20};
      const int first = sequences.add().value();
      for (std::int64_t end = 0; end < kept;) forward(first, end = std::min(end + 7, kept));
      sequences.keep_checkpoint(first);
      std::vector<std::vector<float>> expected;
      for (const std::int64_t end : ends) expected.push_back(forward(first, end));
      const int second =
          sequences.add_beginning(0, std::span(tokens).first(static_cast<std::size_t>(kept) + 1)).value();
      ASSERT_EQ(sequences.length(second), kept);
      for (std::size_t i = 0; i < std::size(ends); ++i) EXPECT_EQ(forward(second, ends[i]), expected[i]) << kept;
      sequences.remove(first);
      sequences.remove(second);
    }
  }
}

TEST_P(ServiceCheckpointTest, AFollowingTurnComputesWhatIsNewAndLittleElse) {
  serve(2);
  ASSERT_TRUE(session_->sequences().needs_checkpoints());
  TextRequest asked = request_of(text(45, 1), 30);
  for (int turn = 0; turn < 4; ++turn) {
    const std::int64_t before = service_->counts().prompt_rows;
    const HeardListener heard = ask(asked);
    run_all();
    const std::int64_t computed = service_->counts().prompt_rows - before;
    EXPECT_EQ(computed, heard->counts.prompt - heard->counts.cached);
    EXPECT_TRUE(turn == 0 || computed <= 5 + small_distance) << computed << " in turn " << turn;
    expect_as_alone(asked, *heard);
    asked.prompt.insert(asked.prompt.end(), heard->tokens.begin(), heard->tokens.end());
    const std::vector<std::int32_t> added = text(5, 10 + static_cast<std::uint64_t>(turn));
    asked.prompt.insert(asked.prompt.end(), added.begin(), added.end());
  }
}

TEST_P(ServiceCheckpointTest, WhoAsksTheSameComputesTheRestOfAPage) {
  serve(8);
  const TextRequest asked = request_of(text(45, 1), 4);
  std::vector<HeardListener> heard;
  for (int i = 0; i < 4; ++i) heard.push_back(ask(asked));
  run_all();
  EXPECT_EQ(service_->counts().prompt_rows, 45 + 3 * (45 - 40));
  for (const HeardListener& each : heard) expect_as_alone(asked, *each);
}

TEST_P(ServiceCheckpointTest, WhoAsksTheSameLaterComputesTheRestOfAPage) {
  serve(1);
  const TextRequest asked = request_of(text(45, 1), 2);
  for (const std::int64_t cached : {0, 40}) {
    const HeardListener heard = ask(asked);
    run_all();
    EXPECT_EQ(heard->counts.cached, cached);
    expect_as_alone(asked, *heard);
  }
}

// They differ behind the fifth page, where there would be no checkpoint if nobody waited for it.
TEST_P(ServiceCheckpointTest, WhoWaitsForABeginningGetsItWhereTheTextsPart) {
  serve(8);
  std::vector<TextRequest> asked;
  std::vector<HeardListener> heard;
  for (std::uint64_t i = 0; i < 5; ++i) {
    asked.push_back(request_of(text(5 * small_page + 3, 1), 6));
    const std::vector<std::int32_t> rest = text(9 + static_cast<std::int64_t>(i), 20 + i);
    asked.back().prompt.insert(asked.back().prompt.end(), rest.begin(), rest.end());
    heard.push_back(ask(asked.back()));
  }
  run_all();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(heard[i]->counts.cached, i == 0 ? 0 : 5 * small_page);
    expect_as_alone(asked[i], *heard[i]);
  }
}

TEST_P(ServiceCheckpointTest, NobodyWaitsForOneWhoIsPastWhatTheyShare) {
  serve(2);
  const TextRequest longest = request_of(text(150, 1), 2);
  const HeardListener first = ask(longest);
  for (int pass = 0; pass < 3; ++pass) service_->step();
  TextRequest late = request_of(text(3 * small_page, 1), 2);  // of these, a checkpoint was kept behind the second page
  late.prompt.push_back(7);
  const HeardListener second = ask(late);
  service_->step();
  ASSERT_TRUE(first->tokens.empty());
  EXPECT_EQ(service_->counts().running, 2);
  run_all();
  EXPECT_EQ(second->counts.cached, small_distance);
  expect_as_alone(longest, *first);
  expect_as_alone(late, *second);
}

TEST_P(ServiceCheckpointTest, WhoeverHadToGoContinuesFromItsLastCheckpoint) {
  serve(1);
  const TextRequest asked = request_of(text(21, 1), 60);
  const HeardListener heard = std::make_shared<Heard>();
  const std::int64_t number = submit(asked, heard);
  while (heard->tokens.size() < 40) ASSERT_TRUE(service_->step());
  service_->pause(number);
  const TextRequest other = request_of(text(21, 2), 5);
  const HeardListener between = ask(other);
  while (!between->ended) ASSERT_TRUE(service_->step());
  EXPECT_EQ(service_->counts().preemptions, 1);
  service_->resume(number);
  run_all();
  EXPECT_LE(service_->counts().prompt_rows, 21 + 21 + small_distance + 1);
  expect_as_alone(asked, *heard);
  expect_as_alone(other, *between);
}

TEST_P(ServiceCheckpointTest, OthersDoNotShareWithAnotherSalt) {
  serve(4);
  TextRequest asked = request_of(text(small_page + 1, 1), 2);
  ask(asked);
  asked.salt = 1;
  const HeardListener heard = ask(asked);
  service_->step();
  EXPECT_EQ(service_->counts().running, 2) << "one waits for another's beginning";
  run_all();
  EXPECT_EQ(heard->counts.cached, 0);
  expect_as_alone(asked, *heard);
  asked.salt = 2;
  const HeardListener later = ask(asked);
  run_all();
  EXPECT_EQ(later->counts.cached, 0);
}

// Requests that begin alike for a while, of two salts, in any order: with room for all, with few checkpoints, with few
// pages, and with few bytes for all of it.
TEST_P(ServiceCheckpointTest, WhateverIsAskedInWhateverOrder) {
  RandomNumbers random(3);
  std::vector<TextRequest> asked;
  std::vector<HeardListener> alone;
  for (std::uint64_t i = 0; i < 12; ++i) {
    std::vector<std::int32_t> prompt = text(1 + static_cast<std::int64_t>(random.below(60)), random.below(2));
    const std::vector<std::int32_t> rest = text(static_cast<std::int64_t>(random.below(20)), 100 + random.below(3));
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    asked.push_back(request_of(std::move(prompt), 1 + static_cast<std::int64_t>(random.below(40))));
    asked.back().salt = random.below(4) == 0;
    alone.push_back(heard_alone(asked.back()));
  }
  struct Case {
    std::int64_t checkpoints, pages;
    bool has_little_memory;
  };
  for (const Case& with : {Case{0, 0, false}, Case{2, 0, false}, Case{0, 20, false}, Case{0, 0, true}}) {
    checkpoints_ = with.checkpoints;
    memory_ = Bytes{0};
    if (with.has_little_memory) {
      serve(4);
      const CacheCosts costs =
          cache_costs(session_->plan_for({.runs = {1}, .outputs = 1}).value()->circuit(), session_->geometry());
      memory_ = Bytes(static_cast<std::size_t>(4 * costs.sequence + 32 * costs.page + 5 * costs.checkpoint));
    }
    serve(4, with.pages);
    std::vector<HeardListener> heard;
    for (const TextRequest& each : asked) {
      heard.push_back(ask(each));
      for (std::uint64_t steps = random.below(6); steps > 0; --steps) service_->step();
    }
    run_all();
    for (std::size_t i = 0; i < asked.size(); ++i) expect_same(*heard[i], *alone[i]);
    // Two make way for each other before anybody comes back to them.
    EXPECT_TRUE(with.checkpoints == 2 || service_->counts().cached_tokens > 0);
    EXPECT_TRUE(with.pages == 0 || service_->counts().preemptions > 0);
    EXPECT_TRUE(memory_.count() == 0 || session_->sequences().bytes() <= memory_.count());
  }
}

// Memory for sequences and no more: nothing is shared, and nobody fails.
TEST_P(ServiceCheckpointTest, WithoutMemoryForCheckpointsEverythingIsComputed) {
  serve(2);
  const CacheCosts costs =
      cache_costs(session_->plan_for({.runs = {1}, .outputs = 1}).value()->circuit(), session_->geometry());
  memory_ = Bytes(static_cast<std::size_t>(2 * costs.sequence + 32 * costs.page));
  serve(2);
  EXPECT_FALSE(session_->sequences().shares_texts());
  const TextRequest asked = request_of(text(40, 1), 3);
  for (int i = 0; i < 2; ++i) {
    const HeardListener heard = ask(asked);
    run_all();
    EXPECT_EQ(heard->counts.cached, 0);
    expect_as_alone(asked, *heard);
  }
  EXPECT_LE(session_->sequences().bytes(), memory_.count());
}

INSTANTIATE_TEST_SUITE_P(WindowsAndStates, ServiceCheckpointTest,
                         testing::Values("gemma3_text", "mistral", "mamba", "mamba2", "qwen3_next"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ingot
