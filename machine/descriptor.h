// Descriptor: a number of the operating system's that is closed by its owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ingot {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.give()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor(std::move(other)).swap(*this);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  int give() { return std::exchange(number_, -1); }

 private:
  void swap(Descriptor& other) noexcept { std::swap(number_, other.number_); }
  int number_ = -1;
};

// What the operating system refused last on this thread.
inline Error refused(std::string_view what) {
  return Error::of(ErrorCode::input_output, "expected to ", what, ", found: ", std::strerror(errno));
}

}  // namespace ingot
