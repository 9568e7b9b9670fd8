#include "os/device/virtio/virtio_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "os/device/virtio/fake_virtio_ring.h"

namespace ingot::os {
namespace {

class Queue : public ::testing::Test {
 protected:
  static constexpr std::uint16_t entries = 8;

  Queue() { begin(true); }
  void begin(bool event_index) {
    queue.begin(memory.data(), std::span(chains).first(entries), event_index);
    device = FakeVirtioRing(memory.data(), entries, event_index);
  }
  bool add(std::size_t readable, std::size_t writable, std::uint64_t token) {
    std::array<VirtioPiece, 16> pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = {PhysicalAddress(0x1000 * (i + 1)), static_cast<std::uint32_t>(10 + i)};
    }
    return queue.add(std::span(pieces).first(readable), std::span(pieces).subspan(readable, writable), token);
  }
  // Adds a chain with room for 10 bytes, which the device sees.
  std::uint16_t give(std::uint64_t token) {
    EXPECT_TRUE(add(0, 1, token));
    static_cast<void>(queue.publish());
    return device.next_chain().value();
  }
  void expect_fault(VirtioFault fault) {
    EXPECT_EQ(queue.take(), std::nullopt);
    EXPECT_EQ(queue.fault(), fault) << name_of(queue.fault());
    EXPECT_EQ(queue.take(), std::nullopt);
    EXPECT_FALSE(add(1, 0, 0));
    EXPECT_TRUE(queue.await());  // nobody looks again
  }

  alignas(4096) std::array<std::byte, VirtioQueue::memory_bytes> memory;
  std::array<VirtioChain, VirtioQueue::most_entries> chains;
  VirtioQueue queue;
  FakeVirtioRing device;
};

TEST_F(Queue, ChainsGoToTheDeviceAndComeBack) {
  ASSERT_TRUE(add(2, 1, 77));
  EXPECT_EQ(queue.free_pieces(), entries - 3);
  EXPECT_EQ(device.next_chain(), std::nullopt);  // not published yet
  EXPECT_TRUE(queue.publish());
  EXPECT_FALSE(queue.publish());
  const std::uint16_t head = device.next_chain().value();
  const auto pieces = device.chain(head);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].address, 0x1000u);
  EXPECT_EQ(pieces[1].bytes, 11u);
  EXPECT_EQ(pieces[1].flags, 1);
  EXPECT_EQ(pieces[2].flags, 2);
  EXPECT_EQ(queue.take(), std::nullopt);
  device.use(head, 12);
  EXPECT_EQ(queue.take(), (VirtioQueue::Used{77, 12}));
  EXPECT_EQ(queue.take(), std::nullopt);
  EXPECT_EQ(queue.free_pieces(), entries);
}

TEST_F(Queue, IsFullWhenItsDescriptorsAre) {
  EXPECT_FALSE(add(5, 4, 0));
  EXPECT_TRUE(add(4, 4, 0));
  EXPECT_FALSE(add(1, 0, 0));
  EXPECT_EQ(queue.free_pieces(), 0);
}

// Long enough for all indexes to wrap, with chains of several lengths that come back in another order.
TEST_F(Queue, GoesOnForever) {
  std::deque<std::uint16_t> held;
  std::array<bool, 70'000> back{};
  std::uint32_t given = 0;
  for (; given < back.size(); ++given) {
    while (!add(given % 2, 1 + given % 2, given)) {
      const std::uint16_t head = given % 3 == 0 ? held.front() : held.back();
      given % 3 == 0 ? held.pop_front() : held.pop_back();
      device.use(head, 10);
      const auto used = queue.take();
      ASSERT_TRUE(used.has_value()) << name_of(queue.fault());
      EXPECT_FALSE(std::exchange(back[used->token], true));
    }
    static_cast<void>(queue.publish());
    held.push_back(device.next_chain().value());
  }
  while (!held.empty()) {
    device.use(held.front(), 0);
    held.pop_front();
    EXPECT_FALSE(std::exchange(back[queue.take().value().token], true));
  }
  EXPECT_EQ(std::count(back.begin(), back.end(), true), 70'000);
  EXPECT_EQ(queue.free_pieces(), entries);
}

TEST_F(Queue, RingsTheDoorbellWhereTheDeviceWantsIt) {
  device.wish(2);
  static_cast<void>(give(0));
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_FALSE(queue.publish());
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_TRUE(queue.publish());  // the third of all, whatever else was added
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_FALSE(queue.publish());
  begin(false);
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_TRUE(queue.publish());
  device.set_used_flags(1);
  EXPECT_TRUE(add(1, 0, 0));
  EXPECT_FALSE(queue.publish());
}

TEST_F(Queue, RingsTheDoorbellWhereTheDeviceHasFewLeft) {
  for (const bool event_index : {true, false}) {
    begin(event_index);
    device.wish(1000);
    device.set_used_flags(1);  // it asks for nothing, either way
    EXPECT_TRUE(add(1, 0, 0));
    EXPECT_TRUE(queue.publish()) << "it had none";
    EXPECT_TRUE(add(1, 0, 0));
    EXPECT_FALSE(queue.publish()) << "it has one";
    EXPECT_TRUE(add(1, 0, 0));
    EXPECT_TRUE(queue.publish(3)) << "two are few";
    EXPECT_TRUE(add(1, 0, 0));
    EXPECT_FALSE(queue.publish(3));
    for (int chain = 0; chain < 4; ++chain) device.use(device.next_chain().value(), 0);
    EXPECT_TRUE(add(1, 0, 0));
    EXPECT_TRUE(queue.publish()) << "it used all, taken back or not";
    EXPECT_FALSE(queue.publish(100)) << "there is nothing to tell";
  }
}

TEST_F(Queue, LooksTwiceBeforeItIsAwaited) {
  for (const bool event_index : {true, false}) {
    begin(event_index);
    const std::uint16_t first = give(1), second = give(2), third = give(3);
    queue.do_not_interrupt();
    device.use(first, 0);
    EXPECT_FALSE(queue.await());  // it is there already
    EXPECT_TRUE(queue.take().has_value());
    EXPECT_TRUE(queue.await());
    EXPECT_TRUE(device.use(second, 0));
    EXPECT_TRUE(queue.take().has_value());
    queue.do_not_interrupt();
    EXPECT_FALSE(device.use(third, 0));
  }
}

TEST_F(Queue, IsToldOfSeveralAtOnce) {
  const std::uint16_t first = give(1), second = give(2), third = give(3);
  EXPECT_TRUE(queue.await(2));
  EXPECT_FALSE(device.use(first, 0));
  EXPECT_TRUE(queue.await(2));
  EXPECT_TRUE(device.use(second, 0));
  EXPECT_FALSE(device.use(third, 0));
  EXPECT_FALSE(queue.await(2));
  EXPECT_FALSE(queue.await(3));
}

TEST_F(Queue, ADeviceThatUsesMoreThanItHasIsCaught) {
  give(1);
  device.set_used_index(2);
  expect_fault(VirtioFault::used_ahead);
  begin(true);
  give(1);
  device.set_used_index(0xffff);
  expect_fault(VirtioFault::used_ahead);
}

TEST_F(Queue, ADeviceThatReturnsWhatItDoesNotHaveIsCaught) {
  const auto tries = [&](std::uint32_t chain) {
    begin(true);
    give(1);
    device.use(chain, 0);
    expect_fault(VirtioFault::unknown_chain);
  };
  tries(1);  // free
  tries(entries);
  tries(0xffffffff);
  begin(true);
  ASSERT_TRUE(add(2, 0, 1));
  static_cast<void>(queue.publish());
  device.use(device.chain(device.next_chain().value())[0].next, 0);  // not the chain's head
  expect_fault(VirtioFault::unknown_chain);
  begin(true);
  const std::uint16_t head = give(1);
  give(2);
  device.put(head, 0);
  device.put(head, 0);  // twice
  device.show();
  EXPECT_TRUE(queue.take().has_value());
  expect_fault(VirtioFault::unknown_chain);
}

TEST_F(Queue, ADeviceThatWritesMoreThanThereIsRoomForIsCaught) {
  const std::uint16_t head = give(1);
  device.use(head, 11);
  expect_fault(VirtioFault::too_long);
  begin(true);
  ASSERT_TRUE(add(3, 0, 1));  // nothing to write
  static_cast<void>(queue.publish());
  device.use(device.next_chain().value(), 1);
  expect_fault(VirtioFault::too_long);
}

// Descriptors are only written here: what the device makes of them changes nothing.
TEST_F(Queue, DescriptorsThatTheDeviceOverwroteAreNotBelieved) {
  ASSERT_TRUE(add(3, 0, 1));
  static_cast<void>(queue.publish());
  const std::uint16_t head = device.next_chain().value();
  std::memset(memory.data(), 0xff, 16 * entries);
  device.use(head, 0);
  EXPECT_TRUE(queue.take().has_value());
  EXPECT_EQ(queue.free_pieces(), entries);
  ASSERT_TRUE(add(4, 4, 2));
  static_cast<void>(queue.publish());
  EXPECT_EQ(device.chain(device.next_chain().value()).size(), entries);
}

TEST_F(Queue, TellsWhatNeverCameBack) {
  give(5);
  give(6);
  std::uint64_t sum = 0;
  queue.abandon([&](std::uint64_t token) { sum += token; });
  EXPECT_EQ(sum, 11u);
  queue.abandon([&](std::uint64_t) { FAIL(); });
}

}  // namespace
}  // namespace ingot::os
