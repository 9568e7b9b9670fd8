// Launches of functions that are written out here by hand, as kernels/device would make them.
#include "machine/gpu/emulated/queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "machine/gpu/emulated/sanitizers.h"

namespace ingot::emulated {
namespace {

const DeviceModule test_module = {"queue_test", nullptr, nullptr};

struct Numbers {
  std::uint32_t* data;
};

void write_position(const void* parameters) {
  const auto* numbers = static_cast<const Numbers*>(parameters);
  const std::uint32_t block = (position.block[2] * position.blocks[1] + position.block[1]) * position.blocks[0];
  const std::uint32_t place = (block + position.block[0]) * position.threads + position.thread;
  numbers->data[place] = place + 1;
}

// Each thread reads what the next one wrote before the barrier.
void pass_on(const void* parameters) {
  std::uint32_t* data = static_cast<const Numbers*>(parameters)->data;
  for (int round = 0; round < 5; ++round) {
    const std::uint32_t next = data[(position.thread + 1) % position.threads];
    meet_block();
    data[position.thread] = next;
    meet_block();
  }
}

void pass_on_without_a_barrier(const void* parameters) {
  std::uint32_t* data = static_cast<const Numbers*>(parameters)->data;
  const std::uint32_t next = data[(position.thread + 1) % position.threads];
  meet_block();
  data[position.thread] = next;
  data[position.thread] += data[(position.thread + 1) % position.threads];
}

void leave_before_the_barrier(const void*) {
  if (position.thread == 40) return;
  meet_block();
}
void meet_elsewhere(const void*) {
  if (position.thread == 33) {
    meet_warp(Meeting::vote, nullptr);
  } else {
    meet_warp(Meeting::shuffle, nullptr);
  }
}
void leave_before_the_shuffle(const void*) {
  if (position.thread == 35) return;
  if (position.thread / lanes_per_warp == 1) meet_warp(Meeting::shuffle, nullptr);
  meet_block();
}
void meet_in_a_warp(const void*) { meet_warp(Meeting::warp_barrier, nullptr); }
void sum_lanes(const void* parameters) {
  for (std::uint32_t round = 1; round <= 3; ++round) {
    const std::uint32_t mine = position.thread * round;
    std::memcpy(own_lane_slot(), &mine, sizeof mine);
    const LaneSlot* lanes = meet_warp(Meeting::shuffle, nullptr);
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < lanes_per_warp; ++lane) {
      std::uint32_t each;
      std::memcpy(&each, lanes + lane, sizeof each);
      sum += each;
    }
    static_cast<const Numbers*>(parameters)->data[position.thread] = sum;
  }
}
void fill_dynamic_shared(const void* parameters) {
  const std::uint32_t count = *static_cast<const std::uint32_t*>(parameters);
  position.dynamic_shared[position.thread < count ? position.thread : 0] = std::byte{1};
}
void expect_poison(const void* parameters) {
  if (position.dynamic_shared[position.thread] != std::byte{0xff}) {
    static_cast<const Numbers*>(parameters)->data[0] = 1;
  }
  position.dynamic_shared[position.thread] = std::byte{0};
}

class EmulatedQueueTest : public testing::Test {
 protected:
  Result<void> run(EmulatedFunction emulated, const LaunchShape& shape, const auto& parameters) {
    function_ = {&test_module, "tested", emulated};
    queue_->launch(function_, shape, parameters);
    return queue_->wait();
  }
  std::string failure(EmulatedFunction emulated, const LaunchShape& shape) {
    const Result<void> result = run(emulated, shape, Numbers{data_.data()});
    return result.ok() ? "no failure" : std::string(result.error().text());
  }

  std::unique_ptr<EmulatedDevice> device_ = EmulatedDevice::create().value();
  std::unique_ptr<Queue> queue_ = device_->make_queue().value();
  std::array<std::uint32_t, 4096> data_{};
  DeviceFunction function_;
};

TEST_F(EmulatedQueueTest, EveryThreadOfEveryBlockRunsOnce) {
  for (int order = 0; order < order_count; ++order) {
    device_->set_order(order);
    data_.fill(0);
    ASSERT_TRUE(
        run(write_position, {.blocks = 5, .blocks_y = 3, .blocks_z = 2, .threads = 100}, Numbers{data_.data()}).ok());
    for (std::uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(data_[i], i + 1);
    ASSERT_EQ(data_[3000], 0u);
  }
}

TEST_F(EmulatedQueueTest, BarriersSeparateReadsFromWrites) {
  for (std::uint32_t threads : {1u, 2u, 31u, 256u, 1024u}) {
    for (int order = 0; order < order_count; ++order) {
      device_->set_order(order);
      for (std::uint32_t i = 0; i < threads; ++i) data_[i] = i;
      ASSERT_TRUE(run(pass_on, {.threads = threads}, Numbers{data_.data()}).ok());
      for (std::uint32_t i = 0; i < threads; ++i) ASSERT_EQ(data_[i], (i + 5) % threads) << order;
    }
  }
}

TEST_F(EmulatedQueueTest, AMissingBarrierShowsInAnotherOrder) {
  std::array<std::uint32_t, 64> in_order_0{};
  bool differs = false;
  for (int order = 0; order < order_count; ++order) {
    device_->set_order(order);
    for (std::uint32_t i = 0; i < 64; ++i) data_[i] = i * i;
    ASSERT_TRUE(run(pass_on_without_a_barrier, {.threads = 64}, Numbers{data_.data()}).ok());
    if (order == 0) std::copy_n(data_.begin(), 64, in_order_0.begin());
    differs |= !std::equal(in_order_0.begin(), in_order_0.end(), data_.begin());
  }
  EXPECT_TRUE(differs);
}

TEST_F(EmulatedQueueTest, LanesSeeWhatAllOfThemBrought) {
  for (int order = 0; order < order_count; ++order) {
    device_->set_order(order);
    ASSERT_TRUE(run(sum_lanes, {.threads = 96}, Numbers{data_.data()}).ok());
    for (std::uint32_t i = 0; i < 96; ++i) ASSERT_EQ(data_[i], 3 * (i / 32 * 32 * 32 + 31 * 16)) << order;
  }
}

TEST_F(EmulatedQueueTest, ABarrierThatSomeDoNotReachIsNamed) {
  EXPECT_EQ(failure(leave_before_the_barrier, {.threads = 64}),
            "device function tested, block (0, 0, 0), thread 0: expected all threads of the block at a barrier of the "
            "block, found that one has ended: thread 40");
}

TEST_F(EmulatedQueueTest, AShuffleThatALaneDoesNotReachIsNamed) {
  EXPECT_EQ(failure(leave_before_the_shuffle, {.threads = 96}),
            "device function tested, block (0, 0, 0), thread 32: expected all lanes of the warp at a shuffle, found "
            "that one has ended: thread 35");
}

TEST_F(EmulatedQueueTest, LanesThatMeetForDifferentReasonsAreNamed) {
  EXPECT_EQ(failure(meet_elsewhere, {.threads = 64}),
            "device function tested, block (0, 0, 0), thread 32: expected all lanes of the warp at a shuffle, found "
            "that one waits at a vote: thread 33");
}

TEST_F(EmulatedQueueTest, AWarpThatIsNotWholeDoesNotMeet) {
  EXPECT_EQ(failure(meet_in_a_warp, {.threads = 40}),
            "device function tested, block (0, 0, 0), thread 32: expected 32 lanes where a warp meets, found 8");
}

TEST_F(EmulatedQueueTest, TheFirstFailureIsKeptAndNamesItsStep) {
  queue_->name_step("layer 3");
  EXPECT_FALSE(run(leave_before_the_barrier, {.threads = 64}, Numbers{data_.data()}).ok());
  queue_->name_step("layer 4");
  const Result<void> result = run(write_position, {.threads = 64}, Numbers{data_.data()});
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().text().starts_with("step layer 3: ")) << result.error().text();
  EXPECT_EQ(data_[0], 0u) << "what follows a failure is left out";
}

TEST_F(EmulatedQueueTest, AFunctionThatIsNotEmulatedIsRefused) {
  EXPECT_NE(failure(nullptr, {}).find("device function tested: expected one that is emulated"), std::string::npos);
}

struct BadShape {
  LaunchShape shape;
  const char* text;
};
class EmulatedQueueShapeTest : public EmulatedQueueTest, public testing::WithParamInterface<BadShape> {};

TEST_P(EmulatedQueueShapeTest, IsRefused) {
  const std::string text = failure(write_position, GetParam().shape);
  EXPECT_NE(text.find(GetParam().text), std::string::npos) << text;
}
INSTANTIATE_TEST_SUITE_P(Shapes, EmulatedQueueShapeTest,
                         testing::Values(BadShape{{.threads = 1025}, "1024 threads a block, found 1025"},
                                         BadShape{{.threads = 0}, "threads a block, found 0"},
                                         BadShape{{.blocks = 0}, "blocks, found 0 x 1 x 1"},
                                         BadShape{{.blocks_z = 65536}, "found 1 and 65536"},
                                         BadShape{{.blocks = 1u << 31}, "blocks, found 2147483648"},
                                         BadShape{{.shared_bytes = 200000}, "of shared memory a block, found 200000"}));

TEST_F(EmulatedQueueTest, ParametersThatAreTooLargeAreRefused) {
  const std::array<std::byte, 4097> large{};
  function_ = {&test_module, "tested", write_position};
  queue_->launch(function_, {}, std::span<const std::byte>(large));
  const Result<void> result = queue_->wait();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("4097"), std::string_view::npos) << result.error().text();
}

TEST_F(EmulatedQueueTest, SharedMemoryIsPoisonedForEveryBlock) {
  for (std::uint32_t bytes : {64u, 32u, 64u}) {
    ASSERT_TRUE(run(expect_poison, {.blocks = 3, .threads = bytes, .shared_bytes = bytes}, Numbers{data_.data()}).ok());
    EXPECT_EQ(data_[0], 0u);
  }
}

#if !INGOT_ADDRESS_SANITIZER
TEST_F(EmulatedQueueTest, AWriteShortlyBehindSharedMemoryIsFound) {
  ASSERT_TRUE(run(fill_dynamic_shared, {.threads = 64, .shared_bytes = 60}, std::uint32_t{60}).ok());
  const Result<void> result = run(fill_dynamic_shared, {.threads = 64, .shared_bytes = 60}, std::uint32_t{61});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("expected nothing written behind the shared memory"), std::string_view::npos);
}
#endif

using EmulatedQueueDeathTest = EmulatedQueueTest;

TEST_F(EmulatedQueueDeathTest, AWriteBehindSharedMemoryEndsTheProgram) {
  EXPECT_DEATH((void)run(fill_dynamic_shared, {.threads = 65, .shared_bytes = 64}, std::uint32_t{65}), "");
}

TEST(EmulatedQueue, WhatIsWrittenDownIsDoneAgainWithWhatMemoryHoldsThen) {
  const auto device = std::move(EmulatedDevice::create()).value();
  const auto queue = std::move(device->make_queue()).value();
  const DeviceMemory from = std::move(device->allocate(4)).value();
  const DeviceMemory to = std::move(device->allocate(4)).value();
  const PinnedMemory host = std::move(device->allocate_pinned(4)).value();
  ASSERT_TRUE(queue->begin_recording().ok());
  queue->copy_within(to.data(), from.data(), 4);
  queue->copy_out(host.data(), to.data(), 4);
  const auto recording = std::move(queue->end_recording()).value();
  for (const std::uint8_t value : {7, 8}) {
    host.data()[3] = std::byte{0};
    queue->fill(from.data(), value, 4);
    EXPECT_EQ(host.data()[3], std::byte{0});
    queue->replay(*recording);
    EXPECT_EQ(host.data()[3], std::byte{value});
  }
  ASSERT_TRUE(queue->begin_recording().ok());
  queue->name_step("behind the end");
  queue->fill(from.data(), 0, 5);
  const auto wrong = std::move(queue->end_recording()).value();
  EXPECT_TRUE(queue->wait().ok());
  queue->replay(*wrong);
  const auto failed = queue->wait();
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text().find("behind the end"), std::string_view::npos) << failed.error().text();
}

TEST(EmulatedQueue, MarksTellHowMuchLaterTheyCame) {
  const auto device = std::move(EmulatedDevice::create()).value();
  const auto queue = std::move(device->make_queue()).value();
  const auto begin = std::move(queue->make_mark()).value();
  const auto end = std::move(queue->make_mark()).value();
  ASSERT_TRUE(begin->place().ok());
  ASSERT_TRUE(end->place().ok());
  EXPECT_GE(end->seconds_since(*begin).value(), 0);
  EXPECT_LE(begin->seconds_since(*end).value(), 0);
}

}  // namespace
}  // namespace ingot::emulated
