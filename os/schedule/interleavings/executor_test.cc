// Tasks and timers in every order: what a handler hands over while the executor goes to sleep is not lost.
#include <gtest/gtest.h>

#include "os/schedule/channel.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/semaphore.h"
#include "os/schedule/sleep.h"
#include "os/schedule/task.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::interleavings {
namespace {

Task<void> sum_up(Allocator&, Channel<int, 1>& channel, int& sum, bool& done) {
  while (true) {
    const Result<int> value = co_await channel.receive();
    if (!value.ok()) break;
    sum += value.value();
  }
  done = true;
  co_return {};
}

struct ChannelScenario {
  TestHeap heap;
  Executor executor;
  Channel<int, 1> channel;
  int sum = 0;
  bool done = false;

  void begin(Simulation& simulation) {
    simulation.start_thread("executor", [&] {
      simulation.expect(Task<void>::spawn(executor, sum_up(heap, channel, sum, done)).ok(), "no memory");
      executor.run_until([&] { return done; });
    });
    simulation.start_thread("handler", [&] {
      int value = 3;
      simulation.expect(channel.try_send(value), "an empty channel refused a value");
      channel.close();
    });
  }
  void end(Simulation& simulation) { simulation.expect(sum == 3, "a value was lost"); }
};

TEST(Interleavings, AnExecutorThatFallsAsleepMissesNothing) {
  expect_holds_in_every_order<ChannelScenario>({.cpus = 2, .preemptions = 2});
}

class NoAlarm : public TimerAlarm {
 public:
  void ring_at(Nanoseconds) override {}
};

struct SleepScenario {
  NoAlarm alarm;
  Atomic<bool> awake;

  void begin(Simulation& simulation) {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers.emplace(alarm);
    simulation.start_thread("sleeper", [&] {
      sleep_thread_until(Nanoseconds(10));
      awake.store(true, MemoryOrder::relaxed);
    });
    simulation.start_thread("clock", [&] {
      while (!awake.load(MemoryOrder::relaxed)) {
        for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers->expire(Nanoseconds(10));
        simulation.scheduler().yield();
        arch::pause();
      }
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, ATimerWakesAThreadOnItsWayToSleep) {
  expect_holds_in_every_order<SleepScenario>({.cpus = 2, .preemptions = 2});
}

// The deadline and the waker race; whatever the outcome, it is true, and the next sleep is ended by nothing but its own
// waker: a timer or a waker that came late would end it early, with nothing handed over.
struct TimedWaitScenario {
  NoAlarm alarm;
  WaitQueue queue;
  Semaphore next{0};
  Atomic<bool> ready, handed;

  void begin(Simulation& simulation) {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers.emplace(alarm);
    simulation.start_thread("sleeper", [&] {
      const bool held = queue.wait_until([&] { return ready.load(MemoryOrder::relaxed); }, Nanoseconds(10));
      simulation.expect(!held || ready.load(MemoryOrder::relaxed), "a wait that held ended without its condition");
      next.acquire();
      simulation.expect(handed.load(MemoryOrder::relaxed), "woken by what belonged to the wait before");
    });
    simulation.start_thread("waker", [&] {
      ready.store(true, MemoryOrder::relaxed);
      queue.wake_one();
    });
    simulation.start_thread("clock", [&] {
      for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers->expire(Nanoseconds(10));
      handed.store(true, MemoryOrder::relaxed);
      next.release();
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, ADeadlineAndAWakerRace) {
  expect_holds_in_every_order<TimedWaitScenario>({.cpus = 2, .preemptions = 2});
}

// Nobody wakes: the deadline alone ends the wait.
struct DeadlineScenario {
  NoAlarm alarm;
  WaitQueue queue;
  Atomic<bool> over;

  void begin(Simulation& simulation) {
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers.emplace(alarm);
    simulation.start_thread("sleeper", [&] {
      simulation.expect(!queue.wait_until([] { return false; }, Nanoseconds(10)), "held");
      over.store(true, MemoryOrder::relaxed);
    });
    simulation.start_thread("clock", [&] {
      while (!over.load(MemoryOrder::relaxed)) {
        for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).timers->expire(Nanoseconds(10));
        simulation.scheduler().yield();
        arch::pause();
      }
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, ADeadlineEndsAWaitThatNobodyEnds) {
  expect_holds_in_every_order<DeadlineScenario>({.cpus = 2, .preemptions = 2});
}

}  // namespace
}  // namespace ingot::os::interleavings
