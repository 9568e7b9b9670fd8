// LockChecker: the locks that one CPU (or, for locks that sleep, one thread) holds, and the rule that their ranks rise.
// A CPU has one where it shall be checked; the others pay for a load and a branch.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "os/schedule/lock_rank.h"

namespace ingot::os {

struct LockViolation {
  std::string_view what;          // "expected ..., found ..."
  const void* lock = nullptr;     // the one that was asked for or given back
  LockRank rank = LockRank::log;  // its rank
  const void* held = nullptr;     // the one it clashes with; none: there is no such lock
  LockRank held_rank = LockRank::log;
  bool may_pass = false;  // it only looks like one: whoever reports may go on
};

// The kernel's panics; a test's writes it down.
class LockViolationHandler {
 public:
  virtual void lock_violated(const LockViolation&) = 0;

 protected:
  ~LockViolationHandler() = default;
};

class LockChecker {
 public:
  static constexpr std::size_t depth = 16;

  explicit LockChecker(LockViolationHandler& handler, SharedWith holder = SharedWith::threads)
      : handler_(&handler), holder_(holder) {}

  // Before the lock is waited for: a deadlock is reported while it can still speak. A try that cannot wait may break
  // the order, so it comes here only after it succeeded, with Waits::no.
  enum class Waits { yes, no };
  void take(const void* lock, LockRank rank, Waits waits, SharedWith shared_with);
  void give_back(const void* lock, LockRank rank);
  // Whoever goes to sleep, or returns from an interrupt, must hold none: `what` says who wanted to.
  void expect_none(std::string_view what) {
    if (count_ != 0) report(what, nullptr, LockRank::log, held_[count_ - 1]);
  }

  std::size_t held_count() const { return count_; }

 private:
  struct Held {
    const void* lock = nullptr;
    LockRank rank{};
  };
  void report(std::string_view what, const void* lock, LockRank rank, const Held& held) {
    handler_->lock_violated({what, lock, rank, held.lock, held.rank});
  }

  LockViolationHandler* handler_;
  SharedWith holder_;  // interrupts: this is the record of a CPU's handlers
  std::array<Held, depth> held_{};
  std::size_t count_ = 0;
};

// Of one CPU. Handlers have a record of their own: they are not ordered after what they interrupted.
struct LockCheckers {
  explicit LockCheckers(LockViolationHandler& handler)
      : of_threads(handler), of_interrupts(handler, SharedWith::interrupts) {}
  LockChecker of_threads, of_interrupts;
};

}  // namespace ingot::os
