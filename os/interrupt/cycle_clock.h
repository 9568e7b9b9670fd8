// CycleClock: cycles of the CPU's counter as nanoseconds, without a division.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/units.h"

namespace ingot::os {

class CycleClock {
 public:
  // Counters slower than the PC's oldest timer, or faster than any CPU, are a wrong measurement.
  static constexpr std::uint64_t slowest = 1'000'000, fastest = 100'000'000'000;

  static Result<CycleClock> create(std::uint64_t cycles_per_second) {
    if (cycles_per_second < slowest || cycles_per_second > fastest) {
      return Error::of(ErrorCode::out_of_range, "expected a counter of ", slowest, " to ", fastest,
                       " cycles a second, found ", cycles_per_second);
    }
    return CycleClock(cycles_per_second);
  }

  std::uint64_t cycles_per_second() const { return cycles_per_second_; }
  std::uint64_t nanoseconds_times_2_to_32() const { return nanoseconds_times_2_to_32_; }  // for who counts by itself
  // Loses less than a nanosecond every 2^32 cycles; overflows after 292 years.
  Nanoseconds nanoseconds(std::uint64_t cycles) const {
    return Nanoseconds(static_cast<std::int64_t>((static_cast<Wide>(cycles) * nanoseconds_times_2_to_32_) >> 32));
  }

  // The other way; more than a counter holds is what it holds at most. Precondition: not negative.
  std::uint64_t cycles(Nanoseconds time) const {
    const Wide cycles = (static_cast<Wide>(time.count()) * cycles_times_2_to_24_) >> 24;
    return cycles >> 64 != 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(cycles);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  explicit CycleClock(std::uint64_t cycles_per_second)
      : cycles_per_second_(cycles_per_second),
        nanoseconds_times_2_to_32_((std::uint64_t{1'000'000'000} << 32) / cycles_per_second),
        cycles_times_2_to_24_((cycles_per_second << 24) / 1'000'000'000) {}

  std::uint64_t cycles_per_second_;
  std::uint64_t nanoseconds_times_2_to_32_;  // of one cycle
  std::uint64_t cycles_times_2_to_24_;       // of one nanosecond
};

}  // namespace ingot::os
