// What making a grammar may take. Schemas and grammars come from whoever sends a request, and a few lines of them can
// stand for more states than a machine has memory.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.h"

namespace ingot::grammar {

struct CompileLimits {
  std::size_t bytes = 16u << 20;
  std::chrono::milliseconds time{1000};
};

class Budget {
 public:
  explicit Budget(const CompileLimits& limits)
      : limits_(limits), deadline_(std::chrono::steady_clock::now() + limits.time) {}

  // An error says which of the two ran out, and is final: every later call gives it too.
  Result<void> spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > limits_.bytes) {
      return Error::of(ErrorCode::out_of_memory, "expected a grammar of at most ", limits_.bytes,
                       " bytes, found one that needs more");
    }
    since_look_ += bytes_of_call + bytes;
    if (since_look_ >= bytes_per_look) return look();
    return is_late_ ? late() : Result<void>();
  }

  // At the clock: for what takes long and no memory. spend() looks now and then, as what fills memory takes time too.
  Result<void> look() {
    since_look_ = 0;
    is_late_ = is_late_ || std::chrono::steady_clock::now() > deadline_;
    return is_late_ ? late() : Result<void>();
  }

  std::size_t spent() const { return spent_; }

 private:
  static constexpr std::size_t bytes_of_call = 64;
  static constexpr std::size_t bytes_per_look = 4096;

  Result<void> late() const {
    return Error::of(ErrorCode::out_of_range, "expected a grammar that is compiled in ", limits_.time.count(),
                     " ms, found one that takes longer");
  }

  CompileLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  std::size_t spent_ = 0;
  std::size_t since_look_ = 0;
  bool is_late_ = false;
};

}  // namespace ingot::grammar
