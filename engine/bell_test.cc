#include "engine/bell.h"

#include <gtest/gtest.h>

#include <thread>

namespace ingot {
namespace {

TEST(Bell, ARingThatNobodyWaitedForIsKept) {
  Bell bell;
  bell.ring();
  bell.ring();
  bell.wait();
  // Both were one ring: now only the time ends it, which has come.
  bell.wait(std::chrono::steady_clock::now());
}

TEST(Bell, WakesWhoeverWaits) {
  Bell bell;
  std::atomic<int> rounds = 0;
  std::thread waiting([&] {
    for (; rounds < 100; ++rounds) bell.wait();
  });
  // Each ring may come before the wait that it ends, and several may end one.
  while (rounds < 100) {
    bell.ring();
    std::this_thread::yield();
  }
  waiting.join();
}

}  // namespace
}  // namespace ingot
