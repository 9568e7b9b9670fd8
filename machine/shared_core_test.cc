#include "machine/shared_core.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

using namespace std::chrono_literals;

// A system whose neighbour takes `taken` of every offer.
struct SimulatedTime {
  static inline std::chrono::nanoseconds clock{0}, ran{0}, taken{0};
  static inline int offers = 0;

  static std::chrono::nanoseconds now() { return clock; }
  static std::chrono::nanoseconds time_run() { return ran; }
  static void offer() {
    ++offers;
    clock += taken;
  }
  static void start() {
    clock = ran = taken = 0ns;
    offers = 0;
  }
  static void run_for(std::chrono::nanoseconds time) {
    clock += time;
    ran += time;
  }
};
using Core = SharedCore<SimulatedTime>;

TEST(SharedCore, OffersNothingWhileItIsAlone) {
  SimulatedTime::start();
  Core core;
  for (int i = 0; i < 1000; ++i) {
    SimulatedTime::run_for(100us);
    core.offer_when_due();
  }
  EXPECT_FALSE(core.is_shared());
  EXPECT_EQ(SimulatedTime::offers, 0);
}

TEST(SharedCore, OffersOnceATurnAfterADelayUntilNobodyTakesIt) {
  SimulatedTime::start();
  Core core;
  SimulatedTime::run_for(100us);
  SimulatedTime::clock += 4ms;  // somebody took the core away
  SimulatedTime::taken = 3ms;
  EXPECT_TRUE(core.is_turn_over());
  for (int turn = 0; turn < 100; ++turn) {
    core.offer_when_due();
    EXPECT_TRUE(core.is_shared());
    EXPECT_EQ(SimulatedTime::offers, turn + 1);
    core.offer_when_due();  // the turn has just begun
    EXPECT_EQ(SimulatedTime::offers, turn + 1);
    SimulatedTime::run_for(Core::turn);
  }
  SimulatedTime::taken = 0us;
  for (int turn = 0; turn < 100; ++turn) {
    core.offer_when_due();
    SimulatedTime::run_for(Core::turn);
  }
  EXPECT_FALSE(core.is_shared());
  EXPECT_EQ(SimulatedTime::offers, 100 + Core::enough);
}

TEST(SharedCore, TakesSleepForNoDelay) {
  SimulatedTime::start();
  Core core;
  SimulatedTime::clock += 1s;
  core.begin_turn();
  SimulatedTime::run_for(Core::turn);
  core.offer_when_due();
  EXPECT_FALSE(core.is_shared());
}

TEST(SharedCore, AsksTheSystemForThisThreadsTime) {
  const std::chrono::nanoseconds began = ThreadTime::now();
  const std::chrono::nanoseconds before = ThreadTime::time_run();
  while (ThreadTime::time_run() - before < 1ms) ThreadTime::offer();
  EXPECT_GT(ThreadTime::now() - began, 900us);  // two clocks
}

}  // namespace
}  // namespace ingot
