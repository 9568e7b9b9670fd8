// InterruptWatch: Ctrl-C is a wish that somebody looks at, for as long as this lives. One at a time.
#pragma once

#include <csignal>

namespace ingot {

class InterruptWatch {
 public:
  InterruptWatch() {
    is_interrupted_ = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { is_interrupted_ = 1; };
    sigaction(SIGINT, &action, &saved_);
  }
  ~InterruptWatch() { sigaction(SIGINT, &saved_, nullptr); }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool is_interrupted() const { return is_interrupted_ != 0; }

 private:
  // A signal handler can reach nothing but a static variable.
  static inline volatile std::sig_atomic_t is_interrupted_ = 0;

  struct sigaction saved_{};
};

}  // namespace ingot
