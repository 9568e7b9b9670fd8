// Sleeping and waking in every order: the kernel's own locks and scheduler, no model of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "os/schedule/condition_variable.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/mutex.h"
#include "os/schedule/reader_writer_lock.h"
#include "os/schedule/scheduler.h"
#include "os/schedule/semaphore.h"

namespace ingot::os::interleavings {
namespace {

// Seen by all threads at once, with a step between reading and writing, so that a lock that lets two in is found.
struct Exclusive {
  Atomic<int> inside;
  int entered = 0;

  void use(Simulation& simulation) {
    const int before = inside.load(MemoryOrder::relaxed);
    simulation.expect(before == 0, "two threads hold the lock");
    inside.store(before + 1, MemoryOrder::relaxed);
    ++entered;
    inside.store(0, MemoryOrder::relaxed);
  }
};

struct MutexScenario {
  Mutex mutex{LockRank::device};
  Exclusive exclusive;

  void begin(Simulation& simulation) {
    for (const char* name : {"first", "second", "third"}) {
      simulation.start_thread(name, [&] {
        const MutexGuard guard(mutex);
        exclusive.use(simulation);
      });
    }
  }
  void end(Simulation& simulation) { simulation.expect(exclusive.entered == 3, "somebody did not enter"); }
};

TEST(Interleavings, MutexLetsOneInAndLosesNobody) {
  expect_holds_in_every_order<MutexScenario>({.cpus = 2, .preemptions = 2});
}

struct TwoThreadMutexScenario : MutexScenario {
  void begin(Simulation& simulation) {
    for (const char* name : {"first", "second"}) {
      simulation.start_thread(name, [&] {
        for (int round = 0; round < 2; ++round) {
          const MutexGuard guard(mutex);
          exclusive.use(simulation);
        }
      });
    }
  }
  void end(Simulation& simulation) { simulation.expect(exclusive.entered == 4, "somebody did not enter"); }
};

TEST(Interleavings, MutexIsTakenAgainAndAgain) {
  expect_holds_in_every_order<TwoThreadMutexScenario>({.cpus = 2, .preemptions = 2});
}

// A thread's mutexes have ranks as a CPU's spin locks have, and going to sleep with a spin lock is reported.
struct RankScenario : LockViolationHandler {
  Mutex outer{LockRank::device};
  Mutex inner{LockRank::address_space};
  LockChecker of_thread{*this};
  LockChecker of_cpu{*this};
  SpinLock spin{LockRank::heap};
  Semaphore semaphore{0};
  std::vector<std::string> texts;

  void lock_violated(const LockViolation& violation) override { texts.emplace_back(violation.what); }
  void begin(Simulation& simulation) {
    simulation.start_thread("careful", [&] {
      current_thread().lock_checker = &of_thread;
      {
        const MutexGuard first(outer);
        const MutexGuard second(inner);
        simulation.expect(of_thread.held_count() == 2, "held mutexes are not on record");
      }
      simulation.expect(texts.empty() && of_thread.held_count() == 0, "a right order was reported");
      const MutexGuard second(inner);
      const MutexGuard first(outer);
      simulation.expect(texts.size() == 1, "a wrong order was not reported");
    });
    simulation.start_thread("careless", [&] {
      simulation.processor(0).lock_checker = &of_cpu;
      spin.lock();
      semaphore.acquire();
      spin.unlock();
    });
    simulation.start_thread("waker", [&] { semaphore.release(); });
  }
  void end(Simulation& simulation) {
    const std::string sleeper = "expected no spin lock held by a thread that leaves its CPU, found one";
    simulation.expect(std::find(texts.begin(), texts.end(), sleeper) != texts.end(), "the sleeper was not reported");
  }
};

TEST(Interleavings, RanksHoldForMutexesAndSleepersHoldNoSpinLock) {
  expect_holds_in_every_order<RankScenario>({.cpus = 1, .preemptions = 0});
}

// Two threads that take two mutexes in opposite orders: whenever both hold one, the second to wait is reported; else
// both pass. Nothing is reported that would have passed.
struct DeadlockScenario : LockViolationHandler {
  Mutex left{LockRank::device};
  Mutex right{LockRank::device};
  Atomic<int> passed;
  Simulation* runs_in = nullptr;

  void lock_violated(const LockViolation& violation) override {
    runs_in->expect(passed.load(MemoryOrder::relaxed) == 0, "reported a deadlock that was none");
    runs_in->fail(violation.what.substr(0, violation.what.find(';')));
  }
  void begin(Simulation& simulation) {
    runs_in = &simulation;
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).lock_reports = this;
    start(simulation, "first", left, right);
    start(simulation, "second", right, left);
  }
  void start(Simulation& simulation, const char* name, Mutex& outer, Mutex& inner) {
    simulation.start_thread(name, [&] {
      const MutexGuard first(outer);
      const MutexGuard second(inner);
      passed.fetch_add(1, MemoryOrder::relaxed);
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, ADeadlockIsReportedByTheLastToWait) {
  EXPECT_EQ(explore_all<DeadlockScenario>({.cpus = 2, .preemptions = 2}).failure,
            "expected a mutex to become free, found a deadlock");
}

// The same order, and a third thread for more waiting: no chain closes, in no order of steps.
struct NoDeadlockScenario : DeadlockScenario {
  void begin(Simulation& simulation) {
    runs_in = &simulation;
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) simulation.processor(cpu).lock_reports = this;
    for (const char* name : {"first", "second", "third"}) start(simulation, name, left, right);
  }
  void end(Simulation& simulation) { simulation.expect(passed.load(MemoryOrder::relaxed) == 3, "somebody stays"); }
};

TEST(Interleavings, ChainsThatDoNotCloseAreNoDeadlock) {
  expect_holds_in_every_order<NoDeadlockScenario>({.cpus = 2, .preemptions = 2});
}

struct WaitQueueScenario {
  WaitQueue queue;
  Atomic<bool> ready;
  int passed = 0;

  void begin(Simulation& simulation) {
    simulation.start_thread("sleeper", [&] {
      queue.wait_until([&] { return ready.load(MemoryOrder::relaxed); });
      ++passed;
    });
    simulation.start_thread("waker", [&] {
      ready.store(true, MemoryOrder::relaxed);
      queue.wake_one();
    });
  }
  void end(Simulation& simulation) { simulation.expect(passed == 1, "the sleeper did not pass"); }
};

TEST(Interleavings, NoWakeUpIsLostBetweenLookingAndSleeping) {
  expect_holds_in_every_order<WaitQueueScenario>({.cpus = 2, .preemptions = 2});
}

// The mistake the protocol exists for: looking first, and joining the list in a second step.
struct LooksBeforeItJoins : WaitQueueScenario {
  void begin(Simulation& simulation) {
    simulation.start_thread("sleeper", [&] {
      if (ready.load(MemoryOrder::relaxed)) return;
      int looks = 0;
      queue.wait_until([&] { return ++looks > 2; });  // two before it sleeps
    });
    simulation.start_thread("waker", [&] {
      ready.store(true, MemoryOrder::relaxed);
      queue.wake_one();
    });
  }
  void end(Simulation&) {}
};

TEST(Interleavings, FindsTheWakeUpThatABrokenProtocolLoses) {
  EXPECT_EQ(explore_all<LooksBeforeItJoins>({.cpus = 2, .preemptions = 1}).failure, "thread sleeper stays blocked");
}

// The end of a program and signals: a waker that knows the thread, and not the queue in which it sleeps.
struct WokenFromOutside {
  Atomic<bool> ended;
  Atomic<Thread*> sleeper;
  WaitQueue queue;
  int passed = 0;

  void begin(Simulation& simulation) {
    simulation.start_thread("sleeper", [&] {
      sleeper.store(&current_thread(), MemoryOrder::release);
      queue.wait_until([&] { return ended.load(MemoryOrder::acquire); });
      ++passed;
    });
    simulation.start_thread("ender", [&] {
      ended.store(true, MemoryOrder::release);
      if (Thread* thread = sleeper.load(MemoryOrder::acquire)) current_scheduler().wake(*thread);
    });
  }
  void end(Simulation& simulation) { simulation.expect(passed == 1, "the sleeper did not pass"); }
};

TEST(Interleavings, AThreadThatIsWokenFromOutsideLeavesTheQueue) {
  expect_holds_in_every_order<WokenFromOutside>({.cpus = 2, .preemptions = 2});
}

// A lock without a lock: reads that it is free, then writes that it is not.
struct TestThenSet {
  Atomic<bool> held;
  Exclusive exclusive;

  void begin(Simulation& simulation) {
    for (const char* name : {"first", "second"}) {
      simulation.start_thread(name, [&] {
        while (held.load(MemoryOrder::acquire)) arch::pause();
        held.store(true, MemoryOrder::release);
        exclusive.use(simulation);
        held.store(false, MemoryOrder::release);
      });
    }
  }
  void end(Simulation&) {}
};

TEST(Interleavings, FindsTheLockThatLetsTwoIn) {
  EXPECT_EQ(explore_all<TestThenSet>({.cpus = 2, .preemptions = 2}).failure, "two threads hold the lock");
}

struct ConditionScenario {
  Mutex mutex{LockRank::device};
  ConditionVariable changed;
  int produced = 0;
  int consumed = 0;

  void begin(Simulation& simulation) {
    simulation.start_thread("consumer", [&] {
      for (int round = 0; round < 2; ++round) {
        const MutexGuard guard(mutex);
        changed.wait(mutex, [&] { return produced > consumed; });
        ++consumed;
      }
    });
    simulation.start_thread("producer", [&] {
      for (int round = 0; round < 2; ++round) {
        {
          const MutexGuard guard(mutex);
          ++produced;
        }
        changed.wake_one();
      }
    });
  }
  void end(Simulation& simulation) { simulation.expect(consumed == 2, "something was not consumed"); }
};

TEST(Interleavings, ConditionVariableWakesWhoWaited) {
  expect_holds_in_every_order<ConditionScenario>({.cpus = 2, .preemptions = 2});
}

struct SemaphoreScenario {
  Semaphore semaphore{1};
  Atomic<int> inside;
  int entered = 0;

  void begin(Simulation& simulation) {
    for (const char* name : {"first", "second", "third"}) {
      simulation.start_thread(name, [&] {
        semaphore.acquire();
        simulation.expect(inside.fetch_add(1, MemoryOrder::relaxed) == 0, "more entered than the count allows");
        ++entered;
        inside.fetch_subtract(1, MemoryOrder::relaxed);
        semaphore.release();
      });
    }
  }
  void end(Simulation& simulation) {
    simulation.expect(entered == 3 && semaphore.try_acquire() && !semaphore.try_acquire(), "a unit was lost or made");
  }
};

TEST(Interleavings, SemaphoreNeitherLosesNorMakesUnits) {
  expect_holds_in_every_order<SemaphoreScenario>({.cpus = 2, .preemptions = 2});
}

struct ReaderWriterScenario {
  ReaderWriterLock lock;
  Atomic<int> readers;
  Atomic<int> writers;
  int done = 0;

  void begin(Simulation& simulation) {
    for (const char* name : {"reader", "other reader"}) {
      simulation.start_thread(name, [&] {
        lock.lock_shared();
        readers.fetch_add(1, MemoryOrder::relaxed);
        simulation.expect(writers.load(MemoryOrder::relaxed) == 0, "a reader stands beside a writer");
        readers.fetch_subtract(1, MemoryOrder::relaxed);
        ++done;
        lock.unlock_shared();
      });
    }
    for (const char* name : {"writer", "other writer"}) {
      simulation.start_thread(name, [&] {
        lock.lock_exclusive();
        simulation.expect(writers.fetch_add(1, MemoryOrder::relaxed) == 0, "two writers");
        simulation.expect(readers.load(MemoryOrder::relaxed) == 0, "a writer stands beside a reader");
        writers.fetch_subtract(1, MemoryOrder::relaxed);
        ++done;
        lock.unlock_exclusive();
      });
    }
  }
  void end(Simulation& simulation) { simulation.expect(done == 4, "somebody did not enter"); }
};

TEST(Interleavings, ReadersAndWritersTakeTurns) {
  expect_holds_in_every_order<ReaderWriterScenario>({.cpus = 2, .preemptions = 2});
}

}  // namespace
}  // namespace ingot::os::interleavings
