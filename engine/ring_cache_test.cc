// Layers with a window keep their last positions in rings that wrap many times here. A session with rings must compute,
// bit for bit, what one without computes from the same passes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "engine/golden_model.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

// The models of these tests see 5 positions.
constexpr std::int64_t window = 5;
constexpr std::int64_t chunk = 6;
constexpr std::int64_t page_length = 4;
constexpr std::int64_t ring_pages = 4;  // ceil((5 + 6) / 4) + 1
constexpr std::int64_t context = 128;

class RingCacheTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SessionOptions options{.context = context, .sequences = 4, .page_length = page_length, .chunk = chunk};
    ring_ = golden_session(GetParam(), options);
    options.chunk = context;  // a ring for such passes would be longer than the context
    whole_ = golden_session(GetParam(), options);
    ASSERT_NE(ring_, nullptr);
    ASSERT_NE(whole_, nullptr);
  }

  std::vector<std::int32_t> tokens(std::int64_t count) {
    std::vector<std::int32_t> drawn;
    const auto vocabulary = static_cast<std::uint64_t>(ring_->model().facts().vocabulary);
    for (std::int64_t index = 0; index < count; ++index) {
      drawn.push_back(static_cast<std::int32_t>(random_.below(vocabulary)));
    }
    return drawn;
  }

  // From 1 on, at most `most`.
  std::int64_t number(std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most)));
  }

  int add() {
    const int sequence = ring_->sequences().add().value();
    EXPECT_EQ(whole_->sequences().add().value(), sequence);
    return sequence;
  }

  int fork(int of) {
    const int sequence = ring_->sequences().fork(of).value();
    EXPECT_EQ(whole_->sequences().fork(of).value(), sequence);
    return sequence;
  }

  void remove(int sequence) {
    ring_->sequences().remove(sequence);
    whole_->sequences().remove(sequence);
  }

  void truncate(int sequence, std::int64_t length) {
    const Result<void> turned = ring_->sequences().truncate(sequence, length);
    EXPECT_TRUE(turned.ok()) << turned.error().text();
    EXPECT_TRUE(whole_->sequences().truncate(sequence, length).ok());
  }

  std::int64_t length(int sequence) const { return ring_->sequences().length(sequence); }

  // Runs that fit a chunk, so that both sessions compute them in one pass.
  void feed(std::span<const TokenRun> runs) {
    const Result<View<const float>> found = ring_->forward(runs);
    const Result<View<const float>> expected = whole_->forward(runs);
    ASSERT_TRUE(found.ok()) << found.error().text();
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    ASSERT_EQ(found.value().count(), expected.value().count());
    EXPECT_TRUE(std::equal(found.value().data(), found.value().data() + found.value().count(), expected.value().data()))
        << "of sequence " << runs[0].sequence << " at " << length(runs[0].sequence);
  }

  void feed(int sequence, std::int64_t count) {
    const std::vector<std::int32_t> drawn = tokens(count);
    const TokenRun run{sequence, drawn, Wanted::all};
    feed(std::span(&run, 1));
  }

  void feed_until(int sequence, std::int64_t end) {
    while (length(sequence) < end) feed(sequence, number(std::min(chunk, end - length(sequence))));
  }

  RandomNumbers random_{7};
  std::unique_ptr<Session> ring_;
  std::unique_ptr<Session> whole_;
};

TEST_P(RingCacheTest, ASequenceAsLongAsTheContext) {
  const int sequence = add();
  feed_until(sequence, context);
  EXPECT_EQ(length(sequence), context);
}

TEST_P(RingCacheTest, APromptThatGoesThroughInChunks) {
  const std::vector<std::int32_t> prompt = tokens(context);
  const TokenRun run{add(), prompt, Wanted::all};
  const Result<View<const float>> found = ring_->forward(run);
  ASSERT_TRUE(found.ok()) << found.error().text();
  const View<const float> expected = whole_->forward(run).value();
  // Not the same passes, so not the same rounding.
  for (std::int64_t index = 0; index < expected.count(); ++index) {
    ASSERT_NEAR(found.value().data()[index], expected.data()[index], 1e-4) << "at " << index;
  }
}

TEST_P(RingCacheTest, ABatchOfUnequalLengths) {
  const int sequences[] = {add(), add(), add()};
  for (int round = 0; round < 40; ++round) {
    std::vector<std::vector<std::int32_t>> drawn;
    for (int index = 0; index < 3; ++index) drawn.push_back(tokens(number(chunk / 3)));
    std::vector<TokenRun> runs;
    for (std::size_t index = 0; index < 3; ++index) runs.push_back({sequences[index], drawn[index], Wanted::all});
    feed(runs);
  }
}

TEST_P(RingCacheTest, ForksWriteTheirOwnFutures) {
  const int first = add();
  feed_until(first, 33);
  const int second = fork(first);
  feed(second, chunk);
  feed(first, chunk);
  const int third = fork(second);
  for (int round = 0; round < 8; ++round) {
    for (const int sequence : {first, second, third}) feed(sequence, number(chunk));
  }
  remove(second);
  feed_until(first, 100);
  feed_until(third, 100);
}

TEST_P(RingCacheTest, APassCanBeTakenBackAndTakenAnotherWay) {
  const int sequence = add();
  feed_until(sequence, 40);
  std::int64_t furthest = 0;
  for (int round = 0; round < 20; ++round) {
    const std::int64_t before = length(sequence);
    feed(sequence, chunk);
    furthest = length(sequence);
    truncate(sequence, before);
    feed(sequence, number(3));
  }
  // The slack is counted from the furthest position that was ever written.
  const std::int64_t slack = ring_pages * page_length - window + 1;
  truncate(sequence, furthest - slack);
  EXPECT_FALSE(ring_->sequences().can_truncate(sequence, furthest - slack - 1));
  feed(sequence, 1);
  EXPECT_FALSE(ring_->sequences().can_truncate(sequence, furthest - slack - 1));
  feed_until(sequence, context);
}

TEST_P(RingCacheTest, TooFarBackIsAnErrorThatChangesNothing) {
  const int sequence = add();
  feed_until(sequence, 50);
  const Result<void> turned = ring_->sequences().truncate(sequence, 37);  // 50 - 16 + 5 - 1 = 38
  ASSERT_FALSE(turned.ok());
  EXPECT_EQ(turned.error().code(), ErrorCode::unsupported);
  EXPECT_NE(turned.error().text().find("expected a length of 0 or from 38 to 50, found 37"), std::string::npos)
      << turned.error().text();
  EXPECT_EQ(length(sequence), 50);
  feed(sequence, chunk);
  truncate(sequence, 0);
  feed_until(sequence, 50);
}

TEST_P(RingCacheTest, ARingThatHasNotWrappedGoesBackAnywhere) {
  const int sequence = add();
  for (const std::int64_t back : {1, 7, 4, 3}) {
    feed_until(sequence, ring_pages * page_length);
    truncate(sequence, back);
  }
  feed_until(sequence, context);
}

TEST_P(RingCacheTest, WhateverIsDoneInWhateverOrder) {
  std::vector<int> sequences = {add()};
  for (int step = 0; step < 400; ++step) {
    const std::size_t which = random_.below(sequences.size());
    const int sequence = sequences[which];
    switch (random_.below(8)) {
      case 0:
        if (sequences.size() < 4) sequences.push_back(fork(sequence));
        break;
      case 1:
        if (sequences.size() > 1) {
          remove(sequence);
          sequences.erase(sequences.begin() + static_cast<std::ptrdiff_t>(which));
        }
        break;
      case 2: {
        const std::int64_t earliest = ring_->sequences().earliest_length(sequence);
        truncate(sequence, earliest + number(length(sequence) - earliest + 1) - 1);
        break;
      }
      default:
        if (length(sequence) + chunk > context) truncate(sequence, 0);
        feed(sequence, number(chunk));
    }
    if (HasFailure()) FAIL() << "at step " << step;
  }
}

TEST_P(RingCacheTest, LayersWithAWindowTakeTheMemoryOfTheirRing) {
  const Circuit& circuit = ring_->plan_for({.runs = {1}, .outputs = 1}).value()->circuit();
  std::size_t expected = 0;
  std::size_t sliding = 0;
  for (const CircuitTensor& tensor : circuit.tensors) {
    if (tensor.storage != Storage::cache) continue;
    if (tensor.window > 0) ++sliding;
    EXPECT_EQ(tensor.shape[0], 4 * (tensor.window > 0 ? ring_pages : context / page_length)) << tensor.name;
    expected += static_cast<std::size_t>(element_count(tensor.shape)) * sizeof(float);
  }
  EXPECT_GT(sliding, 0u);
  EXPECT_EQ(ring_->sequences().bytes(), expected);
  EXPECT_LT(ring_->working_bytes(), whole_->working_bytes());
  ASSERT_TRUE(whole_->plan_for({.runs = {1}, .outputs = 1}).ok());
  EXPECT_EQ(whole_->plan_for({.runs = {1}, .outputs = 1}).value()->tensor(pass_inputs::ring_pages).data(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(SlidingModels, RingCacheTest, testing::Values("gemma2", "gemma3_text", "mistral"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ingot
