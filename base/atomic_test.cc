#include "base/atomic.h"

#include <gtest/gtest.h>

#include <thread>

namespace ingot {
namespace {

enum class Light : std::uint8_t { red, green };

TEST(Atomic, HoldsIntegersPointersAndEnumerations) {
  Atomic<Light> light(Light::red);
  EXPECT_EQ(light.exchange(Light::green, MemoryOrder::acquire_release), Light::red);
  EXPECT_EQ(light.load(MemoryOrder::acquire), Light::green);
  int target = 0;
  Atomic<int*> pointer;
  EXPECT_EQ(pointer.load(MemoryOrder::relaxed), nullptr);
  pointer.store(&target, MemoryOrder::release);
  EXPECT_EQ(pointer.load(MemoryOrder::acquire), &target);
}

TEST(Atomic, CompareExchangeTellsWhatItFound) {
  Atomic<std::uint64_t> value(7);
  std::uint64_t expected = 8;
  EXPECT_FALSE(value.compare_exchange(expected, 9, MemoryOrder::acquire_release));
  EXPECT_EQ(expected, 7u);
  EXPECT_TRUE(value.compare_exchange(expected, 9, MemoryOrder::release));
  EXPECT_EQ(value.load(MemoryOrder::relaxed), 9u);
}

TEST(Atomic, FetchOperationsReturnTheValueBefore) {
  Atomic<std::uint32_t> value(0b1100);
  EXPECT_EQ(value.fetch_or(0b0011, MemoryOrder::relaxed), 0b1100u);
  EXPECT_EQ(value.fetch_and(0b0110, MemoryOrder::relaxed), 0b1111u);
  EXPECT_EQ(value.fetch_add(4, MemoryOrder::relaxed), 0b0110u);
  EXPECT_EQ(value.fetch_subtract(9, MemoryOrder::relaxed), 10u);
  EXPECT_EQ(value.load(MemoryOrder::relaxed), 1u);
}

TEST(Atomic, CountsEveryAdditionOfTwoThreads) {
  Atomic<int> count;
  const auto add = [&] {
    for (int i = 0; i < 100000; ++i) count.fetch_add(1, MemoryOrder::relaxed);
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count.load(MemoryOrder::relaxed), 200000);
}

TEST(Atomic, ReleaseHandsPlainDataToAcquire) {
  for (int round = 0; round < 200; ++round) {
    int data = 0;
    Atomic<bool> ready;
    std::thread writer([&] {
      data = round + 1;
      ready.store(true, MemoryOrder::release);
    });
    while (!ready.load(MemoryOrder::acquire)) std::this_thread::yield();
    EXPECT_EQ(data, round + 1);
    writer.join();
  }
}

}  // namespace
}  // namespace ingot
