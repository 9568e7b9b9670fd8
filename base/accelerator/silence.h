// Silence: for how long a worker's heart has stood still, for somebody who listens now and then. It counts only while
// he listens: who was stopped himself, as all of a machine may be, heard nothing meanwhile.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace ingot::accelerator {

class Silence {
 public:
  // A heart beats that often, and so often one listens.
  static constexpr Nanoseconds beat{100'000'000};

  // What it told by now; for how long it has told that.
  Nanoseconds listen(std::uint64_t beats, Nanoseconds now) {
    const Nanoseconds since = now - listened_;
    silence_ = beats != beats_ ? Nanoseconds{} : silence_ + (since < beat ? since : beat);
    beats_ = beats;
    listened_ = now;
    return silence_;
  }

 private:
  std::uint64_t beats_ = 0;
  Nanoseconds listened_{};
  Nanoseconds silence_{};
};

}  // namespace ingot::accelerator
