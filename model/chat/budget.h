// What a render may consume. A template is input from outside: whatever it says, rendering ends with a text or an error
// after a bounded amount of time and memory.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace ingot::chat {

struct Limits {
  std::uint64_t steps = 16'000'000;              // evaluated nodes and visited elements
  std::uint64_t bytes = std::uint64_t{1} << 30;  // text and elements made or compared, freed ones too
  std::uint64_t output_bytes = 64u << 20;        // the rendered text
  int depth = 400;  // statements and expressions inside one another, through macros too: 1 MiB of stack
};

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), steps_(limits.steps), bytes_(limits.bytes) {}

  const Limits& limits() const { return limits_; }

  // One step, without the room that a result needs for an error. False: there is none left.
  bool take_step() {
    if (steps_ == 0) return false;
    --steps_;
    return true;
  }
  Result<void> spend_steps(std::uint64_t count) {
    if (count > steps_) {
      return Error::of(ErrorCode::out_of_range, "expected at most ", limits_.steps, " steps, found more to do");
    }
    steps_ -= count;
    return {};
  }
  Result<void> spend_bytes(std::uint64_t count) {
    if (count > bytes_) {
      return Error::of(ErrorCode::out_of_range, "expected at most ", limits_.bytes,
                       " bytes of text and elements, found more to make");
    }
    bytes_ -= count;
    return {};
  }
  // A search compares the part at every place of the text, in the worst case nearly to its end.
  Result<void> spend_search(std::uint64_t text_bytes, std::uint64_t part_bytes) {
    return spend_bytes(text_bytes * (1 + part_bytes / 64));
  }

 private:
  Limits limits_;
  std::uint64_t steps_;
  std::uint64_t bytes_;
};

}  // namespace ingot::chat
