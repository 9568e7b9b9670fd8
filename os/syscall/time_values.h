// Times as programs write them down (struct timespec, struct timeval).
#pragma once

#include <cstdint>

#include "base/units.h"
#include "os/syscall/errno.h"

namespace ingot::os {

struct TimeSpecification {
  std::int64_t seconds = 0;
  std::int64_t nanosecond_part = 0;

  static constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
  // Beyond the clock's 292 years is never.
  static constexpr std::int64_t most_seconds = INT64_MAX / nanoseconds_per_second - 1;

  static TimeSpecification of(Nanoseconds time) {
    return {time.count() / nanoseconds_per_second, time.count() % nanoseconds_per_second};
  }
  Answer<Nanoseconds> nanoseconds() const {
    if (seconds < 0 || nanosecond_part < 0 || nanosecond_part >= nanoseconds_per_second) return Errno::einval;
    const std::int64_t whole = seconds < most_seconds ? seconds : most_seconds;
    return Nanoseconds(whole * nanoseconds_per_second + nanosecond_part);
  }
};

// A time after another; where the clock ends, its end.
inline Nanoseconds later(Nanoseconds time, Nanoseconds duration) {
  std::int64_t sum = 0;
  return Nanoseconds(__builtin_add_overflow(time.count(), duration.count(), &sum) ? INT64_MAX : sum);
}

struct TimeValue {
  std::int64_t seconds = 0;
  std::int64_t microsecond_part = 0;

  static constexpr std::int64_t microseconds_per_second = 1'000'000;

  static TimeValue of(Nanoseconds time) {
    const TimeSpecification parts = TimeSpecification::of(time);
    return {parts.seconds, parts.nanosecond_part / 1000};
  }
  Answer<Nanoseconds> nanoseconds() const {
    if (microsecond_part >= microseconds_per_second) return Errno::einval;
    return duration();
  }
  // As select takes it: its microseconds may be more than a second's.
  Answer<Nanoseconds> duration() const {
    std::int64_t whole = 0;
    const std::int64_t more = microsecond_part / microseconds_per_second;
    if (microsecond_part < 0 || __builtin_add_overflow(seconds, more, &whole)) return Errno::einval;
    return TimeSpecification{whole, microsecond_part % microseconds_per_second * 1000}.nanoseconds();
  }
};

}  // namespace ingot::os
