// The date: read once from the PC's battery-backed clock (an MC146818), then carried on by the monotonic clock.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/units.h"
#include "os/device/acpi_bytes.h"

namespace ingot::os {

// By the calendar, in universal time.
struct DateTime {
  std::uint32_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;

  bool operator==(const DateTime&) const = default;
  // Leap seconds do not count, as everywhere.
  std::int64_t seconds_since_1970() const;
};

// Where the clock keeps the century; 0: nowhere, and it is the one from 1970 to 2069. `table` is the checked FADT.
constexpr std::uint8_t parse_century_register(TableBytes fadt) { return number_or_zero<std::uint8_t>(fadt, 108); }

// Waits for up to a few milliseconds where the clock is just counting on.
Result<DateTime> read_real_time_clock(std::uint8_t century_register);

class WallClock {
 public:
  // It is `date` at `monotonic` on the monotonic clock.
  WallClock(const DateTime& date, Nanoseconds monotonic)
      : at_zero_(Nanoseconds(date.seconds_since_1970() * 1'000'000'000) - monotonic) {}

  // Since 1970; in 64 bits until the year 2262.
  Nanoseconds at(Nanoseconds monotonic) const { return at_zero_ + monotonic; }

 private:
  Nanoseconds at_zero_;
};

}  // namespace ingot::os
