// Run queues, stealing, idling and leaving stacks in every order.
#include "os/schedule/scheduler.h"

#include <gtest/gtest.h>

#include <utility>

#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/semaphore.h"

namespace ingot::os::interleavings {
namespace {

// All start on CPU 0: whatever another CPU runs, it has stolen.
struct StealingScenario {
  int finished[3] = {};

  void begin(Simulation& simulation) {
    for (int i = 0; i < 3; ++i) {
      simulation.start_thread("worker", [this, i] { ++finished[i]; });
    }
  }
  void end(Simulation& simulation) {
    for (int count : finished) simulation.expect(count == 1, "a thread ran not at all, or twice");
  }
};

TEST(Interleavings, StealingNeitherLosesNorRepeatsAThread) {
  expect_holds_in_every_order<StealingScenario>({.cpus = 2, .preemptions = 2});
}

TEST(Interleavings, ThreeCpusStealFromEachOther) {
  expect_holds_in_every_order<StealingScenario>({.cpus = 3, .preemptions = 1});
}

TEST(Interleavings, AnIdleCpuDoesSteal) {
  // Not in every order, but in some: else the tests above would prove nothing.
  struct Counts : StealingScenario {
    void end(Simulation& simulation) { simulation.expect(simulation.processor(1).steals == 0, "stolen"); }
  };
  EXPECT_EQ(explore_all<Counts>({.cpus = 2, .preemptions = 1}).failure, "stolen");
}

// One thread keeps its CPU until the other has run: an idle CPU that halts, or sleeps on, while a thread waits in
// another's queue, is found.
struct BusyScenario {
  Atomic<bool> helped;
  Semaphore call{0};

  void begin(Simulation& simulation) {
    simulation.start_thread("helper", [&] {
      call.acquire();
      helped.store(true, MemoryOrder::release);
    });
    simulation.start_thread("busy", [&] {
      call.release();
      while (!helped.load(MemoryOrder::acquire)) arch::pause();
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, NoCpuHaltsWhileAThreadWaits) {
  expect_holds_in_every_order<BusyScenario>({.cpus = 2, .preemptions = 2});
}

// Two threads become ready one after the other while two CPUs go idle. One that has found the first, and still looks as
// if it halted, may be called for the second: then the other, which halts, must hear of it.
struct TwoReadyScenario {
  Atomic<bool> ran;

  void begin(Simulation& simulation) {
    simulation.start_thread("starter", [&] {
      const auto wait = [&] {
        while (!ran.load(MemoryOrder::acquire)) arch::pause();
      };
      simulation.start_thread("long", wait);
      simulation.start_thread("short", [&] { ran.store(true, MemoryOrder::release); });
      wait();
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, ACallThatFindsAnotherThreadIsPassedOn) {
  const Exploration exploration =
      explore_at_random({.cpus = 3, .runs = 50'000}, [] { return std::make_unique<ScenarioOf<TwoReadyScenario>>(); });
  EXPECT_EQ(exploration.failure, "");
}

// A thread that yields is ready while it still stands on its stack: nobody may take it before it has left.
struct YieldingScenario {
  int turns = 0;

  void begin(Simulation& simulation) {
    for (const char* name : {"first", "second"}) {
      simulation.start_thread(name, [&] {
        ++turns;
        simulation.scheduler().yield();
        ++turns;
      });
    }
  }
  void end(Simulation& simulation) { simulation.expect(turns == 4, "a turn is missing"); }
};

TEST(Interleavings, AYieldingThreadIsNotTakenFromItsOwnStack) {
  expect_holds_in_every_order<YieldingScenario>({.cpus = 2, .preemptions = 2});
}

// The joiner frees the thread at once: whatever the exit does after that would be found by the address sanitizer, and
// the state it looks at by everybody.
struct JoinScenario {
  bool joined = false;

  void begin(Simulation& simulation) {
    Thread& worker = simulation.start_thread("worker", [] {});
    simulation.start_thread("joiner", [&] {
      worker.join();
      simulation.expect(worker.state() == ThreadState::finished, "joined before the end");
      joined = true;
    });
  }
  void end(Simulation& simulation) { simulation.expect(joined, "not joined"); }
};

TEST(Interleavings, JoinWaitsForTheStackToBeLeft) {
  expect_holds_in_every_order<JoinScenario>({.cpus = 2, .preemptions = 2});
}

// Ping-pong: each wake-up finds the other thread anywhere between announcing its sleep and being asleep.
struct PingPongScenario {
  Semaphore ping{0};
  Semaphore pong{0};
  int rounds = 0;

  void begin(Simulation& simulation) {
    simulation.start_thread("left", [&] {
      for (int i = 0; i < 2; ++i) {
        ping.release();
        pong.acquire();
      }
    });
    simulation.start_thread("right", [&] {
      for (int i = 0; i < 2; ++i) {
        ping.acquire();
        ++rounds;
        pong.release();
      }
    });
  }
  void end(Simulation& simulation) { simulation.expect(rounds == 2, "a round is missing"); }
};

TEST(Interleavings, WakingFindsAThreadOnItsWayToSleep) {
  expect_holds_in_every_order<PingPongScenario>({.cpus = 2, .preemptions = 2});
}

TEST(Interleavings, OneCpuNeedsNoOther) {
  expect_holds_in_every_order<PingPongScenario>({.cpus = 1, .preemptions = 0});
}

constexpr std::uint64_t only_second_cpu = 2;

// A thread leaves a CPU it may not run on, also where nothing else is ready there, and is found by the other, which may
// be about to halt. Whoever may run anywhere is not held up.
struct MovingScenario {
  bool moved = false, helped = false;

  void begin(Simulation& simulation) {
    simulation.start_thread("moves", [&] {
      simulation.scheduler().restrict(current_thread(), only_second_cpu);
      simulation.expect(current_processor().index == 1, "a thread on a CPU it may not run on");
      simulation.scheduler().yield();
      simulation.expect(current_processor().index == 1, "a thread that came back");
      moved = true;
    });
    simulation.start_thread("helps", [&] { helped = true; });
  }
  void end(Simulation& simulation) { simulation.expect(moved && helped, "a thread was lost"); }
};

TEST(Interleavings, AThreadMovesToWhereItMayRun) {
  expect_holds_in_every_order<MovingScenario>({.cpus = 2, .preemptions = 2});
}

// Restricted by another while it runs, waits in a queue or sleeps: at the latest when it gives its CPU up, it moves.
struct RestrictedScenario {
  Semaphore told{0};
  bool done = false;

  void begin(Simulation& simulation) {
    Thread& restricted = simulation.start_thread("restricted", [&] {
      told.acquire();
      simulation.scheduler().yield();
      simulation.expect(current_processor().index == 1, "a thread that stayed");
      done = true;
    });
    simulation.start_thread("restricts", [&] {
      simulation.scheduler().restrict(restricted, only_second_cpu);
      told.release();
    });
  }
  void end(Simulation& simulation) { simulation.expect(done, "a thread was lost"); }
};

TEST(Interleavings, AThreadCanBeRestrictedInAnyState) {
  expect_holds_in_every_order<RestrictedScenario>({.cpus = 2, .preemptions = 2});
}

// A thread of the kernel sleeps on the CPU that a program keeps; another CPU, or an interrupt there, wakes it. The
// program ends only when it has run: in no order does it wait for a program that nobody interrupts.
struct WokenScenario {
  Semaphore call{0};
  Atomic<bool> served;

  void begin(Simulation& simulation) {
    simulation.start_thread(
        "driver",
        [&] {
          call.acquire();
          simulation.expect(current_processor().index == 1, "a pinned thread on another CPU");
          served.store(true, MemoryOrder::release);
        },
        only_second_cpu);
    const auto is_served = [&] { return served.load(MemoryOrder::acquire); };
    simulation.start_program("engine", is_served, only_second_cpu);
    simulation.start_thread("interrupt", [&] { call.release(); });
  }
  void end(Simulation& simulation) { simulation.expect(served.load(MemoryOrder::relaxed), "not served"); }
};

TEST(Interleavings, AWokenThreadOfTheKernelTakesTheCpuFromAProgram) {
  expect_holds_in_every_order<WokenScenario>({.cpus = 2, .preemptions = 2});
}

// The same where it may run anywhere and programs keep every CPU; a device interrupts one of them.
struct WokenAnywhereScenario {
  Semaphore call{0};
  Atomic<bool> served;
  bool interrupted = false;

  void begin(Simulation& simulation) {
    simulation.start_thread("driver", [&] {
      call.acquire();
      served.store(true, MemoryOrder::release);
    });
    simulation.start_program("engine", [&] {
      if (!std::exchange(interrupted, true)) simulation.interrupt_program([&] { call.release(); });
      return served.load(MemoryOrder::acquire);
    });
    simulation.start_program("another", [&] { return served.load(MemoryOrder::acquire); });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, AWokenThreadThatMayRunAnywhereIsNotLeftBehindAProgram) {
  expect_holds_in_every_order<WokenAnywhereScenario>({.cpus = 2, .preemptions = 2});
}

// Yielding is not waking: a thread of the kernel that waits for a program in turns does not keep it from its CPU.
struct PoliteScenario {
  Atomic<bool> ran;

  void begin(Simulation& simulation) {
    simulation.start_thread("polite", [&] {
      while (!ran.load(MemoryOrder::acquire)) simulation.scheduler().yield();
    });
    simulation.start_program("program", [&] {
      ran.store(true, MemoryOrder::release);
      return true;
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, AThreadOfTheKernelThatYieldsLetsProgramsRun) {
  expect_holds_in_every_order<PoliteScenario>({.cpus = 1, .preemptions = 0});
}

TEST(Scheduler, RefusesProcessorsOutOfPlace) {
  struct : ScheduleMachine {
    void switch_context(Thread&, Thread&) override {}
    void notify(std::uint32_t) override {}
    void wait_for_interrupt() override {}
  } machine;
  Scheduler scheduler(machine);
  Processor first(0);
  Processor second(2);
  EXPECT_TRUE(scheduler.add(first).ok());
  EXPECT_FALSE(scheduler.add(first).ok());
  EXPECT_FALSE(scheduler.add(second).ok());
}

}  // namespace
}  // namespace ingot::os::interleavings
