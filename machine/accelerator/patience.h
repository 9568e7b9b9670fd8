// Patience: how long somebody looks at memory before he sleeps. Where two processes have a core each, what is waited
// for comes within microseconds, and to sleep would cost more; where they share one, who looks only keeps the other
// from it. So he who looked in vain looks less often: not again for 2 waits, then 4, up to 64.
#pragma once

#include <algorithm>
#include <chrono>

namespace ingot {

class Patience {
 public:
  explicit Patience(std::chrono::nanoseconds limit) : limit_(limit) {}

  // Whether it holds, now or within the limit.
  template <class Condition>
  bool wait_for(const Condition& holds) {
    if (holds()) return true;
    if (passed_over_ < (1 << vain_) - 1) {
      ++passed_over_;
      return false;
    }
    passed_over_ = 0;
    const Clock::time_point until = Clock::now() + limit_;
    do {
      for (int round = 0; round < 16; ++round) {  // a clock costs more than a look
        relax();
        if (!holds()) continue;
        vain_ = 0;
        return true;
      }
    } while (Clock::now() < until);
    vain_ = std::min(vain_ + 1, most_vain);
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int most_vain = 6;

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield" ::: "memory");
#endif
  }

  std::chrono::nanoseconds limit_;
  int vain_ = 0;
  int passed_over_ = 0;
};

}  // namespace ingot
