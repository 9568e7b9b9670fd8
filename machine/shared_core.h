// A worker's view of whether it has its core to itself.
//
// Threads that hold chunks must not lose their core: whoever waits for the chunk loses its time too. The scheduler
// takes a core that two want away after some milliseconds, wherever the thread stands. So each worker compares, every
// turn of two milliseconds, the time that passed with the time that it ran: where they part, somebody shares its core,
// and from then on it offers the core at the end of every turn, between two chunks, with nothing in its hands. The
// others take the chunks meanwhile; the team is smaller by the share of the core that is not theirs, and results do not
// change, because chunks do not depend on who runs them. When an offer is refused for long enough the core is its own
// again.
#pragma once

#include <sched.h>
#include <time.h>

#include <chrono>

namespace ingot {

// What a worker asks the system.
struct ThreadTime {
  using Clock = std::chrono::steady_clock;
  static std::chrono::nanoseconds now() { return Clock::now().time_since_epoch(); }
  static std::chrono::nanoseconds time_run() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  static void offer() { sched_yield(); }
};

template <class Time = ThreadTime>
class SharedCore {
 public:
  SharedCore() { begin_turn(); }

  // From here on the thread means to run: time asleep by its own wish is no delay.
  void begin_turn() {
    turn_began_ = Time::now();
    ran_before_ = Time::time_run();
  }

  bool is_turn_over() const { return Time::now() - turn_began_ >= turn; }
  bool is_shared() const { return is_shared_; }

  // With no chunk in hand.
  void offer_when_due() {
    const std::chrono::nanoseconds passed = Time::now() - turn_began_;
    if (passed < turn) return;
    if (!is_shared_ && passed - (Time::time_run() - ran_before_) > delay) {
      is_shared_ = true;
      refused_ = 0;
    }
    if (is_shared_) {
      const std::chrono::nanoseconds offered = Time::now();
      Time::offer();
      refused_ = Time::now() - offered > delay ? 0 : refused_ + 1;
      is_shared_ = refused_ < enough;
    }
    begin_turn();
  }

  // Shorter than a slice of any scheduler with 250 ticks a second or more, long beside a chunk and the cost of a look.
  static constexpr std::chrono::nanoseconds turn = std::chrono::milliseconds(2);
  static constexpr std::chrono::nanoseconds delay = std::chrono::microseconds(300);  // interrupts take less
  static constexpr int enough = 25;

 private:
  std::chrono::nanoseconds turn_began_{};
  std::chrono::nanoseconds ran_before_{};
  int refused_ = 0;
  bool is_shared_ = false;
};

}  // namespace ingot
