#include "machine/gpu/emulated/fiber.h"

#include <gtest/gtest.h>

#include <array>

namespace ingot::emulated {
namespace {

struct Pair {
  FiberStacks stacks = FiberStacks::reserve(2).value();
  Fiber host;
  std::array<Fiber, 2> fibers;
  std::array<double, 2> results{};
  int turns = 0;
};
thread_local Pair* pair = nullptr;

// More values alive across a switch than there are registers that a call may change.
void count_up(std::size_t self) {
  std::array<double, 24> values{};
  for (int turn = 0; turn < 100; ++turn) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(i + 1 + self);
    ++pair->turns;
    pair->fibers[self].switch_to(pair->fibers[1 - self]);
  }
  for (double value : values) pair->results[self] += value;
}
void first_fiber() {
  Fiber::arrive();
  count_up(0);
  pair->fibers[0].switch_to(pair->fibers[1]);
}
void second_fiber() {
  Fiber::arrive();
  count_up(1);
  pair->fibers[1].switch_to(pair->host);
}

TEST(Fiber, KeepsWhatWasInRegistersAcrossSwitches) {
  Pair own;
  pair = &own;
  own.fibers[0].prepare(own.stacks.open(0).value(), first_fiber);
  own.fibers[1].prepare(own.stacks.open(1).value(), second_fiber);
  own.host.switch_to(own.fibers[0]);
  EXPECT_EQ(own.turns, 200);
  EXPECT_EQ(own.results[0], 100 * 24 * 25 / 2);
  EXPECT_EQ(own.results[1], 100 * (24 * 25 / 2 + 24));
}

void probe_alignment() {
  Fiber::arrive();
  alignas(16) volatile char local[16] = {};
  pair->turns = static_cast<int>(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 +
                                 reinterpret_cast<std::uintptr_t>(&local[0]) % 16);
  pair->fibers[0].switch_to(pair->host);
}

TEST(Fiber, BeginsOnAnAlignedStack) {
  Pair own;
  pair = &own;
  own.turns = -1;
  own.fibers[0].prepare(own.stacks.open(0).value(), probe_alignment);
  own.host.switch_to(own.fibers[0]);
  EXPECT_EQ(own.turns, 0);
}

[[gnu::noinline]] int sink(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : sink(depth - 1) + frame[0];
}
void sink_far() {
  Fiber::arrive();
  pair->turns = sink(1 << 20);
  pair->fibers[0].switch_to(pair->host);
}

TEST(FiberDeathTest, AStackThatOverflowsEndsTheProgram) {
  Pair own;
  pair = &own;
  own.fibers[0].prepare(own.stacks.open(0).value(), sink_far);
  EXPECT_DEATH(own.host.switch_to(own.fibers[0]), "");
}

}  // namespace
}  // namespace ingot::emulated
