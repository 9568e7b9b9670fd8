#include "os/schedule/spin_lock.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "os/schedule/locked.h"

namespace ingot::os {
namespace {

class Recorder : public LockViolationHandler {
 public:
  void lock_violated(const LockViolation& violation) override { texts.emplace_back(violation.what); }
  std::vector<std::string> texts;
};

// This thread as a CPU whose locks are checked.
class CheckedCpu {
 public:
  CheckedCpu() {
    header_.lock_checker = &checker;
    arch::set_current_cpu(header_);
  }
  ~CheckedCpu() { arch::hosted::thread = {}; }

  Recorder recorder;
  LockChecker checker{recorder};

 private:
  arch::ProcessorHeader header_;
};

TEST(SpinLock, LetsOneThreadInAtATime) {
  Locked<long> count(LockRank::heap);
  const auto add = [&] {
    for (int i = 0; i < 20000; ++i) count.with([](long& value) { ++value; });
  };
  std::thread first(add);
  std::thread second(add);
  add();
  first.join();
  second.join();
  EXPECT_EQ(count.with([](long& value) { return value; }), 60000);
}

TEST(SpinLock, TryDoesNotWait) {
  SpinLock lock(LockRank::heap);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(Locked, KeepsInterruptsOffOnlyWhereAsked) {
  Locked<int> for_threads(LockRank::heap);
  Locked<int, SharedWith::interrupts> for_all(LockRank::run_queue);
  ASSERT_TRUE(arch::interrupts_enabled());
  for_threads.with([](int&) { EXPECT_TRUE(arch::interrupts_enabled()); });
  for_all.with([&](int&) {
    EXPECT_FALSE(arch::interrupts_enabled());
    for_threads.with([](int&) { EXPECT_FALSE(arch::interrupts_enabled()); });
    EXPECT_FALSE(arch::interrupts_enabled());
  });
  EXPECT_TRUE(arch::interrupts_enabled());
}

TEST(SpinLock, TellsWhoHoldsItForTooLong) {
  CheckedCpu cpu;
  static SpinLock* waited_for = nullptr;
  static int pauses = 0;
  SpinLock lock(LockRank::heap);
  waited_for = &lock;
  pauses = 0;
  lock.lock();
  arch::current_cpu().lock_reports = &cpu.recorder;
  arch::current_cpu().lock_checker = nullptr;  // it would refuse to wait for itself
  arch::hosted::thread.on_pause = [] {
    arch::hosted::thread.skipped_cycles += std::uint64_t{1} << 36;
    if (++pauses == 3) waited_for->unlock();
  };
  lock.lock();
  ASSERT_EQ(cpu.recorder.texts.size(), 2u) << "pauses double: one, two";
  EXPECT_EQ(cpu.recorder.texts[0], "expected a lock to be free within seconds, found CPU 0 hold it while CPU 0 waits");
}

TEST(LockChecker, HandlersTakeOnlyWhatIsKeptWithInterruptsOff) {
  CheckedCpu cpu;
  SpinLock with_threads(LockRank::heap);
  SpinLock with_handlers(LockRank::frames, SharedWith::interrupts);
  with_handlers.lock();
  ASSERT_EQ(cpu.recorder.texts.size(), 1u) << "interrupts are on";
  with_handlers.unlock();
  cpu.recorder.texts.clear();
  LockCheckers checkers(cpu.recorder);
  arch::current_cpu().lock_checker = &checkers.of_interrupts;
  arch::disable_interrupts();
  SpinLock again(LockRank::frames, SharedWith::interrupts);
  again.lock();
  again.unlock();
  EXPECT_TRUE(cpu.recorder.texts.empty());
  with_threads.lock();
  EXPECT_EQ(cpu.recorder.texts.size(), 1u);
}

TEST(LockChecker, AcceptsRisingRanksAndAnyOrderOfGivingBack) {
  CheckedCpu cpu;
  SpinLock outer(LockRank::device);
  SpinLock inner(LockRank::heap);
  SpinLock innermost(LockRank::log);
  outer.lock();
  inner.lock();
  innermost.lock();
  EXPECT_EQ(cpu.checker.held_count(), 3u);
  outer.unlock();
  innermost.unlock();
  inner.unlock();
  EXPECT_EQ(cpu.checker.held_count(), 0u);
  EXPECT_TRUE(cpu.recorder.texts.empty());
}

TEST(LockChecker, ReportsAFallingAndAnEqualRank) {
  CheckedCpu cpu;
  SpinLock inner(LockRank::heap);
  SpinLock sibling(LockRank::heap);
  SpinLock outer(LockRank::device);
  inner.lock();
  outer.lock();
  ASSERT_EQ(cpu.recorder.texts.size(), 1u);
  EXPECT_EQ(cpu.recorder.texts[0], "expected a rank above all held, found one that is not");
  sibling.lock();
  EXPECT_EQ(cpu.recorder.texts.size(), 2u);
}

TEST(LockChecker, ReportsALockThatWaitsForItself) {
  CheckedCpu cpu;
  SpinLock lock(LockRank::heap);
  lock.lock();
  cpu.checker.take(&lock, LockRank::heap, LockChecker::Waits::yes, SharedWith::threads);
  ASSERT_EQ(cpu.recorder.texts.size(), 1u);
  EXPECT_NE(cpu.recorder.texts[0].find("wait for itself"), std::string::npos);
}

TEST(LockChecker, ATryMayBreakTheOrder) {
  CheckedCpu cpu;
  SpinLock inner(LockRank::heap);
  SpinLock outer(LockRank::device);
  inner.lock();
  EXPECT_TRUE(outer.try_lock());
  EXPECT_TRUE(cpu.recorder.texts.empty());
  outer.unlock();
  inner.unlock();
}

TEST(LockChecker, ReportsALockGivenBackTwiceAndASleeperThatHoldsOne) {
  CheckedCpu cpu;
  SpinLock lock(LockRank::heap);
  lock.unlock();
  EXPECT_EQ(cpu.recorder.texts.size(), 1u);
  cpu.checker.expect_none("asleep");
  EXPECT_EQ(cpu.recorder.texts.size(), 1u);
  lock.lock();
  cpu.checker.expect_none("asleep");
  ASSERT_EQ(cpu.recorder.texts.size(), 2u);
  EXPECT_EQ(cpu.recorder.texts[1], "asleep");
}

TEST(LockChecker, ReportsWhenItsRecordIsFull) {
  CheckedCpu cpu;
  int locks[LockChecker::depth + 1];
  for (const int& lock : locks) cpu.checker.take(&lock, LockRank::heap, LockChecker::Waits::no, SharedWith::threads);
  EXPECT_EQ(cpu.recorder.texts.size(), 1u);
}

}  // namespace
}  // namespace ingot::os
