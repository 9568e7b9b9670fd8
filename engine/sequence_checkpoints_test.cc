#include "engine/sequence_checkpoints.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/sequence_memory.h"

namespace ingot {
namespace {

TEST(SequenceCheckpoints, TheOneThatWasUsedLongestAgoMakesWay) {
  SequenceCheckpoints checkpoints(2, 8);
  *checkpoints.add(10) = std::byte{1};
  *checkpoints.add(11) = std::byte{2};
  EXPECT_EQ(checkpoints.bytes(), 16u);
  EXPECT_EQ(*checkpoints.use(10), std::byte{1});
  *checkpoints.add(12) = std::byte{3};
  EXPECT_FALSE(checkpoints.has(11));
  EXPECT_EQ(checkpoints.use(11), nullptr);
  EXPECT_EQ(*checkpoints.use(10), std::byte{1});
  EXPECT_EQ(*checkpoints.use(12), std::byte{3});
  EXPECT_EQ(checkpoints.bytes(), 16u);
}

TEST(SequenceCheckpoints, WhereNoneMayBeKeptNoneIs) {
  SequenceCheckpoints checkpoints(0, 8);
  EXPECT_EQ(checkpoints.add(1), nullptr);
  EXPECT_FALSE(checkpoints.has(1));
  EXPECT_EQ(checkpoints.bytes(), 0u);
}

// One that the system has no memory for.
TEST(SequenceCheckpoints, WhereThereIsNoMemoryNoneIsKept) {
  SequenceCheckpoints checkpoints(2, std::size_t{1} << 62);
  EXPECT_EQ(checkpoints.add(1), nullptr);
  EXPECT_FALSE(checkpoints.has(1));
}

constexpr std::int64_t page_of_four = 4;

// A layer that keeps everything, one that sees 6 positions, and a state: each holds the sum of all tokens so far, which
// no other text of these tests has.
class CheckpointMemoryTest : public testing::Test {
 protected:
  static CircuitTensor cache(const std::string& name, std::int64_t pages, std::int64_t window = 0) {
    return {.name = name,
            .storage = Storage::cache,
            .dtype = DType::f32,
            .shape = {pages, 1, page_of_four, 1},
            .window = window};
  }

  static SequenceMemory made(std::int64_t checkpoints) {
    Circuit circuit;
    circuit.tensors = {cache("whole", 12), cache("ring", 12, 6), state()};
    const CacheGeometry geometry{.dtype = DType::f32,
                                 .pages = 12,
                                 .page_length = page_of_four,
                                 .pages_per_sequence = 10,
                                 .sequences = 3,
                                 .ring_window = 6,
                                 .ring_pages = 4};
    return SequenceMemory::create(circuit, geometry, {.checkpoints = checkpoints}).value();
  }

  static CircuitTensor state() {
    return {.name = "state@0", .storage = Storage::state, .dtype = DType::f32, .shape = {1}, .run = 0};
  }

  float& at(const CircuitTensor& tensor, const PagedCache& pages, int sequence, std::int64_t position) {
    std::vector<std::int32_t> table(10);
    pages.write_table(sequence, table);
    const std::int64_t page = table[static_cast<std::size_t>(position / page_of_four)];
    return reinterpret_cast<float*>(memory_.cache(tensor))[page * page_of_four + position % page_of_four];
  }
  float& state_of(int sequence) { return *reinterpret_cast<float*>(memory_.state(state(), sequence)); }

  // Computes `end` tokens of the text, in passes of at most `most` that end at its checkpoints.
  int compute(const std::vector<std::int32_t>& text, std::vector<std::int64_t> checkpoints, std::uint64_t salt = 0,
              std::int64_t most = 3) {
    const int sequence = memory_.add_beginning(salt, text).value();
    EXPECT_EQ(memory_.known_beginning(salt, text).tokens, memory_.length(sequence));
    computed_ = std::ssize(text) - memory_.length(sequence);
    expect(sequence, text);
    while (memory_.length(sequence) < std::ssize(text)) {
      const std::int64_t begin = memory_.length(sequence);
      std::int64_t end = std::min(std::ssize(text), begin + most);
      for (const std::int64_t checkpoint : checkpoints) {
        if (checkpoint > begin) end = std::min(end, checkpoint);
      }
      EXPECT_TRUE(memory_.reserve(sequence, end - begin).ok());
      for (std::int64_t position = begin; position < end; ++position) {
        state_of(sequence) += static_cast<float>(text[static_cast<std::size_t>(position)]);
        at(cache("whole", 12), memory_.whole(), sequence, position) = state_of(sequence);
        at(cache("ring", 12, 6), memory_.rings(), sequence, position) = state_of(sequence);
      }
      memory_.advance(sequence, end - begin);
      memory_.publish(sequence, salt, text);
      if (std::ranges::count(checkpoints, end) > 0) memory_.keep_checkpoint(sequence);
    }
    expect(sequence, text);
    return sequence;
  }

  void expect(int sequence, const std::vector<std::int32_t>& text) {
    float sum = 0;
    const std::int64_t length = memory_.length(sequence);
    for (std::int64_t position = 0; position < length; ++position) {
      sum += static_cast<float>(text[static_cast<std::size_t>(position)]);
      EXPECT_EQ(at(cache("whole", 12), memory_.whole(), sequence, position), sum) << "whole, at " << position;
      if (position < length - 5) continue;
      EXPECT_EQ(at(cache("ring", 12, 6), memory_.rings(), sequence, position), sum) << "ring, at " << position;
    }
    EXPECT_EQ(state_of(sequence), sum);
  }

  SequenceMemory memory_ = made(2);
  std::int64_t computed_ = 0;
};

std::vector<std::int32_t> counted(std::int64_t length, std::int32_t first = 1) {
  std::vector<std::int32_t> text;
  while (std::ssize(text) < length) text.push_back(first++);
  return text;
}

TEST_F(CheckpointMemoryTest, ATextContinuesBehindItsLastCheckpoint) {
  ASSERT_TRUE(memory_.needs_checkpoints());
  ASSERT_TRUE(memory_.shares_texts());
  for (const std::int64_t length : {4, 8, 16, 20, 28}) {  // before and after the ring of 16 has wrapped
    memory_ = made(2);
    memory_.remove(compute(counted(30), {length}));
    EXPECT_EQ(computed_, 30);
    const int sequence = compute(counted(34), {});
    EXPECT_EQ(computed_, 34 - length);
    memory_.remove(sequence);
    EXPECT_EQ(memory_.whole().free_pages(), 12);
    EXPECT_EQ(memory_.rings().free_pages(), 12);
  }
}

TEST_F(CheckpointMemoryTest, WhoContinuesTurnsBackNoFurtherThanItSees) {
  memory_.remove(compute(counted(30), {24}));
  const int sequence = memory_.add_beginning(0, counted(30)).value();
  ASSERT_EQ(memory_.length(sequence), 24);
  EXPECT_FALSE(memory_.can_truncate(sequence, 23));
  EXPECT_EQ(memory_.rings().earliest_length(sequence), 16 + 5);  // it holds two pages
  ASSERT_TRUE(memory_.truncate(sequence, 0).ok());
  EXPECT_EQ(state_of(sequence), 0);
}

TEST_F(CheckpointMemoryTest, OthersSharePagesAndCopiesWhileTheyGoTheirOwnWays) {
  const int first = compute(counted(13), {8, 12});
  std::vector<std::int32_t> parted = counted(12);
  parted.insert(parted.end(), {50, 60, 70, 80, 90});
  const int second = compute(parted, {});
  EXPECT_EQ(computed_, 5);
  const int third = compute(counted(13), {});
  EXPECT_EQ(computed_, 1);
  EXPECT_EQ(memory_.whole().free_pages(), 12 - 3 - 1 - 2 - 1);
  expect(first, counted(13));
  expect(second, parted);
  expect(third, counted(13));
}

TEST_F(CheckpointMemoryTest, AnotherSaltSharesNothing) {
  memory_.remove(compute(counted(9), {8}, 1));
  memory_.remove(compute(counted(9), {8}, 2));
  EXPECT_EQ(computed_, 9);
  memory_.remove(compute(counted(9), {}, 1));
  EXPECT_EQ(computed_, 1);
}

TEST_F(CheckpointMemoryTest, ACheckpointIsGoodAsLongAsItsPagesAreKnown) {
  memory_.remove(compute(counted(9), {8}));
  const int longest = compute(counted(40, 100), {});  // all pages that hold nothing
  memory_.remove(compute(counted(4, 200), {}));       // the second of the first text
  memory_.remove(longest);
  memory_.remove(compute(counted(9), {}));
  EXPECT_EQ(computed_, 9);
}

TEST_F(CheckpointMemoryTest, ItsBytesAreCounted) {
  const std::size_t before = memory_.bytes();
  memory_.remove(compute(counted(12), {4, 8, 12}));
  const std::size_t state = 64, window = 2 * page_of_four * sizeof(float);
  EXPECT_EQ(memory_.bytes(), before + state + 2 * (state + window));
}

// Nothing keeps all positions: pages take no memory and name texts all the same.
TEST(RecurrentCheckpoints, AStateIsFoundByItsText) {
  Circuit circuit;
  const CircuitTensor state{.name = "s@0", .storage = Storage::state, .dtype = DType::f32, .shape = {1}, .run = 0};
  circuit.tensors = {state};
  const CacheGeometry geometry{.pages = 8, .page_length = page_of_four, .pages_per_sequence = 4, .sequences = 2};
  SequenceMemory memory = SequenceMemory::create(circuit, geometry, {.checkpoints = 1}).value();
  const int first = memory.add().value();
  ASSERT_TRUE(memory.reserve(first, 8).ok());
  *reinterpret_cast<float*>(memory.state(state, first)) = 7;
  memory.advance(first, 8);
  memory.publish(first, 0, counted(8));
  memory.keep_checkpoint(first);
  memory.remove(first);
  const int second = memory.add_beginning(0, counted(10)).value();
  EXPECT_EQ(memory.length(second), 8);
  EXPECT_EQ(*reinterpret_cast<float*>(memory.state(state, second)), 7);
  std::vector<std::int32_t> another = counted(10);
  another[2] = 0;
  EXPECT_EQ(memory.known_beginning(0, another).tokens, 0);
  EXPECT_EQ(memory.bytes(), 2 * 64u);
}

}  // namespace
}  // namespace ingot
