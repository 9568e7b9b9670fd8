// Ctrl-C during what computes for long: signals of Python's are handled by its main thread, with the interpreter's
// lock. Looked for often enough for whoever waits, and seldom enough for a thread of Python's that is busy meanwhile.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace ingot::python {

class InterruptCheck {
 public:
  // Throws what a handler of Python's raised. Called without the lock.
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + distance;
    const pybind11::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }

 private:
  static constexpr std::chrono::milliseconds distance{50};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + distance;
};

}  // namespace ingot::python
