#include "engine/sequence_memory.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr std::int64_t page_length = 4;

CircuitTensor cache_tensor(const std::string& name, std::int64_t pages, std::int64_t window = 0) {
  return {.name = name,
          .storage = Storage::cache,
          .dtype = DType::f32,
          .shape = {pages, 1, page_length, 1},
          .window = window};
}

// One number a position, so that a test can read a sequence as attention would: through its table.
class Cache {
 public:
  Cache(SequenceMemory& memory, const PagedCache& pages, CircuitTensor tensor)
      : memory_(memory), pages_(pages), tensor_(std::move(tensor)) {}

  float& at(int sequence, std::int64_t position) const {
    std::vector<std::int32_t> table(static_cast<std::size_t>(memory_.capacity() / page_length));
    pages_.write_table(sequence, table);
    const std::int64_t page = table[static_cast<std::size_t>(position / page_length)];
    return reinterpret_cast<float*>(memory_.cache(tensor_))[page * page_length + position % page_length];
  }

 private:
  SequenceMemory& memory_;
  const PagedCache& pages_;
  CircuitTensor tensor_;
};

// A layer that keeps everything and one that sees 3 positions.
class SequenceMemoryTest : public testing::Test {
 protected:
  explicit SequenceMemoryTest(std::int64_t pages = 24)
      : memory_(made({.dtype = DType::f32,
                      .pages = pages,
                      .page_length = page_length,
                      .pages_per_sequence = 8,
                      .sequences = 3,
                      .ring_window = 3,
                      .ring_pages = 3})),
        whole_(memory_, memory_.whole(), cache_tensor("whole", pages)),
        ring_(memory_, memory_.rings(), cache_tensor("ring", 9, 3)) {}

  static SequenceMemory made(const CacheGeometry& geometry) {
    Circuit circuit;
    circuit.tensors = {cache_tensor("whole", geometry.pages), cache_tensor("ring", 9, 3)};
    return SequenceMemory::create(circuit, geometry).value();
  }

  // Appends `tokens` positions, each holding `mark` + its number.
  void append(int sequence, std::int64_t tokens, float mark) {
    const Result<void> reserved = memory_.reserve(sequence, tokens);
    ASSERT_TRUE(reserved.ok()) << reserved.error().text();
    const std::int64_t begin = memory_.length(sequence);
    for (std::int64_t position = begin; position < begin + tokens; ++position) {
      whole_.at(sequence, position) = ring_.at(sequence, position) = mark + static_cast<float>(position);
    }
    memory_.advance(sequence, tokens);
  }

  // Positions `begin` to `end` hold `mark` + their number; in the ring those that the next token sees.
  void expect(int sequence, std::int64_t begin, std::int64_t end, float mark) {
    for (std::int64_t position = begin; position < end; ++position) {
      EXPECT_EQ(whole_.at(sequence, position), mark + static_cast<float>(position)) << "whole, at " << position;
      if (position < memory_.length(sequence) - 2) continue;
      EXPECT_EQ(ring_.at(sequence, position), mark + static_cast<float>(position)) << "ring, at " << position;
    }
  }

  SequenceMemory memory_;
  Cache whole_;
  Cache ring_;
};

class ScarceMemoryTest : public SequenceMemoryTest {
 protected:
  ScarceMemoryTest() : SequenceMemoryTest(5) {}
};

TEST_F(SequenceMemoryTest, NumbersAreUsedAgainAndTheirMemoryIsNew) {
  EXPECT_EQ(memory_.add().value(), 0);
  EXPECT_EQ(memory_.add().value(), 1);
  EXPECT_EQ(memory_.add().value(), 2);
  const Result<int> fourth = memory_.add();
  ASSERT_FALSE(fourth.ok());
  EXPECT_EQ(fourth.error().text(), "expected room for one more sequence, found all 3 in use");
  for (int round = 0; round < 3; ++round) append(1, 10, 0);
  memory_.remove(1);
  EXPECT_FALSE(memory_.has(1));
  EXPECT_EQ(memory_.whole().free_pages(), 24);
  EXPECT_EQ(memory_.rings().free_pages(), 9);
  EXPECT_EQ(memory_.add().value(), 1);
  EXPECT_EQ(memory_.length(1), 0);
  EXPECT_EQ(memory_.earliest_length(1), 0);
}

TEST_F(SequenceMemoryTest, ASequenceThatIsNotThereIsNamed) {
  for (const int sequence : {-1, 0, 3}) {
    EXPECT_FALSE(memory_.fork(sequence).ok());
    EXPECT_FALSE(memory_.truncate(sequence, 0).ok());
    const Result<void> reserved = memory_.reserve(sequence, 1);
    ASSERT_FALSE(reserved.ok());
    EXPECT_EQ(reserved.error().text(), "expected a sequence that exists, found " + std::to_string(sequence));
  }
}

TEST_F(SequenceMemoryTest, PagesAreTakenAsTheSequenceGrowsAndARingTakesNoMoreThanItsOwn) {
  const int sequence = memory_.add().value();
  append(sequence, 1, 0);
  EXPECT_EQ(memory_.whole().free_pages(), 23);
  append(sequence, 3, 0);
  EXPECT_EQ(memory_.whole().free_pages(), 23);
  for (int round = 0; round < 7; ++round) append(sequence, 4, 0);
  EXPECT_EQ(memory_.whole().free_pages(), 16);
  EXPECT_EQ(memory_.rings().free_pages(), 6);
  expect(sequence, 0, 32, 0);
  const Result<void> full = memory_.reserve(sequence, 1);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().text(), "expected at most 0 more tokens of a context of 32, found 1");
}

TEST_F(SequenceMemoryTest, AForkIsCopiedWhenEitherSideWrites) {
  const int first = memory_.add().value();
  for (int round = 0; round < 3; ++round) append(first, 6, 0);
  const int second = memory_.fork(first).value();
  EXPECT_EQ(memory_.length(second), 18);
  EXPECT_EQ(memory_.whole().free_pages(), 24 - 5);
  EXPECT_EQ(memory_.rings().free_pages(), 9 - 3);
  append(second, 7, 100);  // positions 18 to 24: a page that is shared and partly full, and two more
  EXPECT_EQ(memory_.whole().free_pages(), 24 - 5 - 3);
  EXPECT_EQ(memory_.rings().free_pages(), 9 - 3 - 3);
  append(first, 2, 0);
  EXPECT_EQ(memory_.whole().free_pages(), 24 - 5 - 3);  // the page is its own again
  expect(first, 0, 20, 0);
  expect(second, 0, 18, 0);
  expect(second, 18, 25, 100);
  memory_.remove(first);
  expect(second, 18, 25, 100);
  memory_.remove(second);
  EXPECT_EQ(memory_.whole().free_pages(), 24);
  EXPECT_EQ(memory_.rings().free_pages(), 9);
}

TEST_F(SequenceMemoryTest, AForkKeepsWhatItsRingStillSeesWhileTheOtherWraps) {
  const int first = memory_.add().value();
  for (int round = 0; round < 4; ++round) append(first, 5, 0);
  const int second = memory_.fork(first).value();
  append(first, 10, 100);
  expect(second, 0, 20, 0);
  append(second, 1, 0);
  expect(second, 0, 21, 0);
  expect(first, 20, 30, 100);
}

TEST_F(SequenceMemoryTest, ReservingTwiceAndForkingBetweenSharesNothingWritable) {
  const int first = memory_.add().value();
  ASSERT_TRUE(memory_.reserve(first, 8).ok());  // a pass that failed: reserved and never advanced
  const int second = memory_.fork(first).value();
  append(first, 8, 0);
  append(second, 8, 100);
  expect(first, 0, 8, 0);
  expect(second, 0, 8, 100);
}

TEST_F(SequenceMemoryTest, TruncatingGivesPagesBackAndKeepsWhatLiesBefore) {
  const int sequence = memory_.add().value();
  append(sequence, 10, 0);
  ASSERT_TRUE(memory_.truncate(sequence, 5).ok());
  EXPECT_EQ(memory_.length(sequence), 5);
  EXPECT_EQ(memory_.whole().free_pages(), 22);
  EXPECT_EQ(memory_.rings().free_pages(), 7);
  append(sequence, 4, 100);
  expect(sequence, 0, 5, 0);
  expect(sequence, 5, 9, 100);
  EXPECT_EQ(memory_.truncate(sequence, 10).error().text(), "expected a length from 0 to 9, found 10");
  EXPECT_EQ(memory_.truncate(sequence, -1).error().text(), "expected a length from 0 to 9, found -1");
  EXPECT_EQ(memory_.length(sequence), 9);
}

TEST_F(SequenceMemoryTest, ARingGoesBackAsFarAsItHoldsWhatTheNextTokenSees) {
  const int sequence = memory_.add().value();
  for (int round = 0; round < 4; ++round) append(sequence, 5, 0);
  // It holds positions 8 to 19; the token at 10 sees 8, 9 and itself.
  EXPECT_EQ(memory_.earliest_length(sequence), 10);
  const Result<void> turned = memory_.truncate(sequence, 9);
  ASSERT_FALSE(turned.ok());
  EXPECT_TRUE(turned.error().text().starts_with("expected a length of 0 or from 10 to 20, found 9"))
      << turned.error().text();
  EXPECT_EQ(memory_.length(sequence), 20);
  EXPECT_EQ(memory_.whole().free_pages(), 24 - 5);
  ASSERT_TRUE(memory_.truncate(sequence, 10).ok());
  expect(sequence, 0, 10, 0);
  append(sequence, 2, 100);
  EXPECT_EQ(memory_.earliest_length(sequence), 10);  // nothing more was overwritten
  expect(sequence, 10, 12, 100);
  ASSERT_TRUE(memory_.truncate(sequence, 0).ok());
  EXPECT_EQ(memory_.earliest_length(sequence), 0);
  EXPECT_EQ(memory_.rings().free_pages(), 9);
}

TEST_F(SequenceMemoryTest, APassLongerThanTheRingIsRefused) {
  const int sequence = memory_.add().value();
  const Result<void> reserved = memory_.reserve(sequence, 11);
  ASSERT_FALSE(reserved.ok());
  EXPECT_EQ(reserved.error().text(), "expected at most 10 tokens at once beside a window of 3, found 11");
  EXPECT_EQ(memory_.whole().free_pages(), 24);
  EXPECT_TRUE(memory_.reserve(sequence, 10).ok());
}

TEST_F(ScarceMemoryTest, TooFewPagesChangeNothing) {
  const int first = memory_.add().value();
  append(first, 10, 0);  // 3 of 5 pages
  const int second = memory_.fork(first).value();
  const Result<void> reserved = memory_.reserve(second, 10);  // a copy and 2 more
  ASSERT_FALSE(reserved.ok());
  EXPECT_EQ(reserved.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(reserved.error().text(), "expected 3 free cache pages, found 2");
  EXPECT_EQ(memory_.whole().free_pages(), 2);
  EXPECT_EQ(memory_.rings().free_pages(), 6);
  EXPECT_EQ(memory_.length(second), 10);
  expect(second, 0, 10, 0);
  memory_.remove(first);
  append(second, 10, 100);
  expect(second, 0, 10, 0);
  expect(second, 10, 20, 100);
}

TEST(RecurrentMemory, AStateIsCopiedByAForkAndTurnsBackToTheBeginningOnly) {
  Circuit circuit;
  const CircuitTensor state{
      .name = "blk.0.state@0", .storage = Storage::state, .dtype = DType::f32, .shape = {2}, .run = 0};
  circuit.tensors = {state};
  SequenceMemory memory = SequenceMemory::create(circuit, {.pages_per_sequence = 1, .sequences = 2}).value();
  const auto value = [&](int sequence) -> float& { return *reinterpret_cast<float*>(memory.state(state, sequence)); };
  const int first = memory.add().value();
  value(first) = 1;
  memory.advance(first, 3);
  const int second = memory.fork(first).value();
  value(second) += 1;
  EXPECT_EQ(value(first), 1);
  EXPECT_EQ(value(second), 2);
  EXPECT_FALSE(memory.can_truncate(first, 2));
  EXPECT_FALSE(memory.truncate(first, 2).ok());
  EXPECT_TRUE(memory.truncate(first, 3).ok());
  EXPECT_EQ(value(first), 1);
  EXPECT_TRUE(memory.truncate(first, 0).ok());
  EXPECT_EQ(value(first), 0);
  memory.remove(second);
  EXPECT_EQ(value(memory.add().value()), 0);
}

// All positions are kept and nothing else: texts can be shared.
class SharedTextsTest : public testing::Test {
 protected:
  static SequenceMemory made(const CacheGeometry& geometry) {
    Circuit circuit;
    circuit.tensors = {cache_tensor("whole", geometry.pages)};
    return SequenceMemory::create(circuit, geometry).value();
  }

  // A sequence of the text, computed as far as others have not, and made known.
  int compute(const std::vector<std::int32_t>& text, std::uint64_t salt = 0) {
    const int sequence = memory_.add_beginning(salt, text).value();
    computed_ = static_cast<std::int64_t>(text.size()) - memory_.length(sequence);
    EXPECT_TRUE(memory_.reserve(sequence, computed_).ok());
    for (std::int64_t at = memory_.length(sequence); at < static_cast<std::int64_t>(text.size()); ++at) {
      whole_.at(sequence, at) = static_cast<float>(text[static_cast<std::size_t>(at)]);
    }
    memory_.advance(sequence, computed_);
    memory_.publish(sequence, salt, text);
    return sequence;
  }

  void expect_text(int sequence, const std::vector<std::int32_t>& text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      EXPECT_EQ(whole_.at(sequence, static_cast<std::int64_t>(at)), static_cast<float>(text[at])) << "at " << at;
    }
  }

  SequenceMemory memory_ =
      made({.dtype = DType::f32, .pages = 6, .page_length = page_length, .pages_per_sequence = 8, .sequences = 3});
  Cache whole_{memory_, memory_.whole(), cache_tensor("whole", 6)};
  std::int64_t computed_ = 0;
};

const std::vector<std::int32_t> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
const std::vector<std::int32_t> nine_otherwise = {1, 2, 3, 4, 5, 6, 7, 8, 10};

TEST_F(SharedTextsTest, ATextThatBeginsAlikeComputesItsRest) {
  ASSERT_TRUE(memory_.shares_texts());
  const int first = compute(nine);
  EXPECT_EQ(computed_, 9);
  const int second = compute(nine_otherwise);
  EXPECT_EQ(computed_, 1);
  EXPECT_EQ(memory_.whole().free_pages(), 6 - 3 - 1);
  expect_text(first, nine);
  expect_text(second, nine_otherwise);
}

TEST_F(SharedTextsTest, AnotherSaltSharesNothing) {
  compute(nine, 1);
  compute(nine, 2);
  EXPECT_EQ(computed_, 9);
}

TEST_F(SharedTextsTest, WhatWasLetGoIsFoundAgainUntilItsPagesAreWanted) {
  memory_.remove(compute(nine));
  EXPECT_EQ(memory_.whole().free_pages(), 6);
  memory_.remove(compute(nine));
  EXPECT_EQ(computed_, 1);
  // Five pages of another text take the place of the second page, then of the first.
  const std::vector<std::int32_t> longer(5 * page_length, 3);
  memory_.remove(compute(longer));
  memory_.remove(compute(nine));
  EXPECT_EQ(computed_, 5);
}

TEST_F(SharedTextsTest, TwoThatComputedTheSameHoldOnePage) {
  const int first = memory_.add().value(), second = memory_.add().value();
  for (const int sequence : {first, second}) {
    ASSERT_TRUE(memory_.reserve(sequence, 4).ok());
    for (int at = 0; at < 4; ++at) whole_.at(sequence, at) = static_cast<float>(nine[static_cast<std::size_t>(at)]);
    memory_.advance(sequence, 4);
  }
  EXPECT_EQ(memory_.whole().free_pages(), 4);
  memory_.publish(first, 0, nine);
  memory_.publish(second, 0, nine);
  EXPECT_EQ(memory_.whole().free_pages(), 5);
  expect_text(second, {1, 2, 3, 4});
}

TEST_F(SharedTextsTest, WhoTurnsBackIntoAKnownPageWritesToItsOwn) {
  const int first = compute(nine);
  ASSERT_TRUE(memory_.truncate(first, 6).ok());
  ASSERT_TRUE(memory_.reserve(first, 2).ok());
  whole_.at(first, 6) = 70;
  whole_.at(first, 7) = 80;
  memory_.advance(first, 2);
  memory_.publish(first, 0, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 70, 80});
  expect_text(compute(nine_otherwise), nine_otherwise);
  EXPECT_EQ(computed_, 1);
  expect_text(first, {1, 2, 3, 4, 5, 6, 70, 80});
  expect_text(compute({1, 2, 3, 4, 5, 6, 70, 80, 90}), {1, 2, 3, 4, 5, 6, 70, 80, 90});
  EXPECT_EQ(computed_, 1);
}

}  // namespace
}  // namespace ingot
