#include "base/accelerator/rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <thread>

namespace ingot::accelerator {
namespace {

class Rings : public testing::Test {
 protected:
  struct alignas(4096) Bytes {
    std::array<std::byte, shared_bytes> bytes{};
  };
  std::unique_ptr<Bytes> memory = std::make_unique<Bytes>();
  SharedWords shared{memory->bytes.data()};
  CommandWriter writer = command_writer(shared);
  CommandReader reader = command_reader(shared);
};

TEST_F(Rings, HandOverWhatWasWrittenInItsOrder) {
  for (std::uint64_t i = 0; i < 3 * command_count; ++i) {
    ASSERT_GT(writer.room().value(), 0u);
    writer.push(barrier_packet(i));
    if (i % 3 == 2) {
      for (std::uint64_t taken = i - 2; taken <= i; ++taken) {
        ASSERT_GT(reader.waiting().value(), 0u);
        EXPECT_EQ(reader.take().completion, taken);
      }
    }
  }
  EXPECT_EQ(reader.waiting().value(), 0u);
}

TEST_F(Rings, HaveNoRoomUntilSomethingIsTaken) {
  for (std::uint64_t i = 0; i < command_count; ++i) writer.push(barrier_packet(i));
  EXPECT_EQ(writer.room().value(), 0u);
  EXPECT_EQ(writer.room().value(), 0u);
  reader.take();
  EXPECT_EQ(writer.room().value(), 1u);
}

TEST_F(Rings, RefuseIndicesThatCannotBe) {
  shared.doorbell().command_write.store(command_count + 1, MemoryOrder::release);
  EXPECT_FALSE(reader.waiting().ok());
  shared.doorbell().command_write.store(~std::uint64_t{0}, MemoryOrder::release);
  EXPECT_FALSE(reader.waiting().ok());
  for (std::uint64_t i = 0; i < command_count; ++i) writer.push(barrier_packet(i));
  shared.worker().command_read.store(command_count + 1, MemoryOrder::release);  // before it was written
  EXPECT_FALSE(writer.room().ok());
}

// A program of a machine comes behind another one, to the same worker.
TEST_F(Rings, GoOnWhereTheClientBeforeStood) {
  AnswerWriter answers = answer_writer(shared);
  for (std::uint64_t i = 0; i < command_count + 5; ++i) {
    ASSERT_GT(writer.room().value(), 0u);
    writer.push(barrier_packet(i));
    reader.take();
    answers.push({.tag = i});
    AnswerReader former = answer_reader(shared);
    ASSERT_EQ(former.take().tag, i);
  }
  writer.push(barrier_packet(7));  // nobody took it
  CommandWriter next = command_writer(shared);
  EXPECT_EQ(next.written(), command_count + 6);
  EXPECT_EQ(next.room().value(), command_count - 1);
  next.push(barrier_packet(8));
  EXPECT_EQ(reader.waiting().value(), 2u);
  EXPECT_EQ(reader.take().completion, 7u);
  EXPECT_EQ(reader.take().completion, 8u);
  EXPECT_EQ(answer_reader(shared).waiting().value(), 0u);
}

TEST_F(Rings, OfTheOwnerLieBeyondTheClientsPart) {
  MemoryWriter owner = memory_writer(shared);
  MemoryReader worker = memory_reader(shared);
  owner.push(memory_packet(MemoryCode::unmap, {4096, 0, 0, 0}, 9));
  ASSERT_EQ(worker.waiting().value(), 1u);
  EXPECT_EQ(worker.take().completion, 9u);
  memory_answer_writer(shared).push({.tag = 9, .value = 3});
  EXPECT_EQ(memory_answer_reader(shared).take().value, 3u);
  const std::span<const std::byte> clients(memory->bytes.data(), client_bytes);
  EXPECT_TRUE(std::all_of(clients.begin(), clients.end(), [](std::byte each) { return each == std::byte{0}; }));
}

// Two threads that sleep whenever they may: whoever is not woken waits until the test's limit.
TEST_F(Rings, WakeWhoSleeps) {
  constexpr std::uint64_t rounds = 20000;
  Atomic<std::uint32_t>& sleeps = shared.worker().sleeps;
  std::atomic<std::uint32_t> bell{0};
  std::thread worker([&] {
    for (std::uint64_t taken = 0; taken < rounds;) {
      const std::uint32_t rung = bell.load();
      if (may_sleep(sleeps, full_fence, [&] { return reader.waiting().value() > 0; })) bell.wait(rung);
      wake_up(sleeps);
      while (reader.waiting().value() > 0) {
        EXPECT_EQ(reader.take().completion, taken++);
      }
    }
  });
  for (std::uint64_t i = 0; i < rounds; ++i) {
    while (writer.room().value() == 0) std::this_thread::yield();
    writer.push(barrier_packet(i));
    if (must_ring(sleeps, full_fence)) {
      bell.fetch_add(1);
      bell.notify_one();
    }
  }
  worker.join();
  EXPECT_EQ(reader.taken(), rounds);
}

}  // namespace
}  // namespace ingot::accelerator
