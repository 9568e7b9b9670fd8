#include "kernels/device/language.h"

#include "kernels/device/emulated_run.h"

namespace ingot {
namespace {

struct Words {
  std::uint32_t* data;
  std::uint32_t count;
};

}  // namespace

namespace device {

INGOT_DEVICE_FUNCTION(number_threads, Words, 96) {
  const unsigned block = (block_index_z() * block_count_y() + block_index_y()) * block_count() + block_index();
  const unsigned place = block * thread_count() + thread_index();
  parameters.data[place] = block * 10000 + warp_index() * 100 + lane_index() + warp_count() * 1000000;
}

// Reverses what dynamic and static shared memory hold of a block's numbers.
INGOT_DEVICE_FUNCTION(reverse, Words, 256) {
  INGOT_SHARED std::uint32_t fixed[256];
  auto* asked_for = dynamic_shared<std::uint32_t>();
  const unsigned first = block_index() * thread_count();
  const unsigned mirrored = thread_count() - 1 - thread_index();
  fixed[thread_index()] = parameters.data[first + thread_index()];
  synchronize_block();
  asked_for[thread_index()] = fixed[mirrored];
  synchronize_block();
  parameters.data[first + thread_index()] = asked_for[thread_index()] + 1;
}

INGOT_DEVICE_FUNCTION(reverse_hastily, Words, 256) {
  INGOT_SHARED std::uint32_t fixed[256];
  fixed[thread_index()] = parameters.data[thread_index()];
  parameters.data[thread_index()] = fixed[thread_count() - 1 - thread_index()];
}

// The barrier is there, but the next round writes before all have read.
INGOT_DEVICE_FUNCTION(rotate_hastily, Words, 256) {
  INGOT_SHARED std::uint32_t fixed[256];
  std::uint32_t value = parameters.data[thread_index()];
  for (int round = 0; round < 3; ++round) {
    fixed[thread_index()] = value;
    synchronize_block();
    value = fixed[(thread_index() + 1) % thread_count()];
  }
  parameters.data[thread_index()] = value;
}

// A sum that begins with what the block before left in shared memory.
INGOT_DEVICE_FUNCTION(forget_to_begin, Words, 32) {
  INGOT_SHARED std::uint32_t sum[1];
  if (thread_index() == 0) {
    if (block_index() % 2 == 1) sum[0] += block_index();
    if (block_index() % 2 == 0) sum[0] = block_index();
    parameters.data[block_index()] = sum[0];
  }
}

INGOT_DEVICE_FUNCTION(take_turns_in_a_warp, Words, 64) {
  INGOT_SHARED std::uint32_t fixed[64];
  fixed[thread_index()] = parameters.data[thread_index()];
  synchronize_warp();
  parameters.data[thread_index()] = fixed[thread_index() ^ 1];
}

INGOT_DEVICE_FUNCTION(come_to_a_stop, Words, 32) {
  if (thread_index() == 7 && block_index() == 2) stop();
}

INGOT_DEVICE_FUNCTION(diverge, Words, 64) {
  if (thread_index() < parameters.count) synchronize_block();
}

}  // namespace device

namespace {

using Language = EmulatedRun;

TEST_F(Language, EveryThreadKnowsItsPlace) {
  std::vector<std::uint32_t> data(2 * 3 * 2 * 96);
  run(INGOT_TESTED(number_threads), {.blocks = 2, .blocks_y = 3, .blocks_z = 2, .threads = 96}, data,
      Words{data.data(), 0});
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], 3000000 + i / 96 * 10000 + i % 96 / 32 * 100 + i % 32);
  }
}

TEST_F(Language, SharedMemoryIsTheBlocks) {
  std::vector<std::uint32_t> data(3 * 256);
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = i;
  run(INGOT_TESTED(reverse), {.blocks = 3, .threads = 256, .shared_bytes = 1024}, data, Words{data.data(), 0});
  for (std::uint32_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], i / 256 * 256 + 255 - i % 256 + 1);
}

TEST_F(Language, BarriersOfAWarpSeparateItsLanes) {
  std::vector<std::uint32_t> data(64);
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = i;
  run(INGOT_TESTED(take_turns_in_a_warp), {.threads = 64}, data, Words{data.data(), 0});
  for (std::uint32_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], i ^ 1);
}

TEST_F(Language, WhatIsWrongGivesOtherBitsInAnotherOrder) {
  const DeviceFunction wrong[] = {INGOT_TESTED(reverse_hastily), INGOT_TESTED(rotate_hastily),
                                  INGOT_TESTED(forget_to_begin)};
  for (const DeviceFunction& function : wrong) {
    std::vector<std::uint32_t> data(256);
    for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = i * i;
    const bool is_of_blocks = function.emulated == device::ingot_emulated_forget_to_begin;
    const LaunchShape shape = {.blocks = is_of_blocks ? 8u : 1u, .threads = is_of_blocks ? 32u : 256u};
    const auto all = in_all_orders(function, shape, data, Words{data.data(), 0});
    bool differs = false;
    for (const auto& each : all) differs |= each != all[0];
    EXPECT_TRUE(differs) << function.name;
  }
}

TEST_F(Language, AThreadThatStopsIsNamed) {
  const std::string text = failure(INGOT_TESTED(come_to_a_stop), {.blocks = 4}, Words{});
  EXPECT_TRUE(
      text.starts_with("device function come_to_a_stop, block (2, 0, 0), thread 7: expected never to come here"))
      << text;
}

TEST_F(Language, ThreadsThatDivergeAreNamedInEveryOrder) {
  for (int order = 0; order < emulated::order_count; ++order) {
    EXPECT_EQ(
        failure(INGOT_TESTED(diverge), {.threads = 64}, Words{nullptr, 5}, order),
        "device function diverge, block (0, 0, 0), thread 0: expected all threads of the block at a barrier of the "
        "block, found that one has ended: thread 5");
  }
  EXPECT_EQ(failure(INGOT_TESTED(diverge), {.threads = 64}, Words{nullptr, 64}), "");
  EXPECT_EQ(failure(INGOT_TESTED(diverge), {.threads = 64}, Words{nullptr, 0}), "");
}

TEST_F(Language, ALaunchThatTheFunctionWasNotBuiltForIsRefused) {
  EXPECT_NE(failure(INGOT_TESTED(come_to_a_stop), {.threads = 33}, Words{}).find("built for, found 33"),
            std::string::npos);
  EXPECT_NE(failure(INGOT_TESTED(come_to_a_stop), {.threads = 32}, std::uint64_t{0}).find("parameters"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
