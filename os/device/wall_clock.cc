#include "os/device/wall_clock.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t clock_index_port = 0x70, clock_data_port = 0x71;
// Registers of the clock; those between them belong to its alarm.
constexpr std::uint8_t clock_seconds = 0, clock_minutes = 2, clock_hours = 4, clock_day = 7, clock_month = 8,
                       clock_year = 9, clock_status_a = 10, clock_status_b = 11;

std::uint32_t read_clock(std::uint8_t number) {
  constexpr std::uint8_t no_non_maskable_interrupt = 0x80;  // shares the port; off while the index must not change
  arch::write_port_8(clock_index_port, number | no_non_maskable_interrupt);
  const std::uint8_t value = arch::read_port_8(clock_data_port);
  arch::write_port_8(clock_index_port, 0);
  return value;
}

struct ClockRegisters {
  std::uint32_t second, minute, hour, day, month, year, century;
  bool operator==(const ClockRegisters&) const = default;
};

ClockRegisters read_all(std::uint8_t century_register) {
  return {read_clock(clock_seconds),
          read_clock(clock_minutes),
          read_clock(clock_hours),
          read_clock(clock_day),
          read_clock(clock_month),
          read_clock(clock_year),
          century_register == 0 ? 0 : read_clock(century_register)};
}

// A change takes 2 ms, each look some microseconds.
bool await_rest() {
  constexpr std::uint32_t changing = 0x80;
  for (int tries = 0; tries < 10'000; ++tries) {
    if ((read_clock(clock_status_a) & changing) == 0) return true;
    arch::pause();
  }
  return false;
}

DateTime decode(const ClockRegisters& found, std::uint32_t status_b, bool has_century) {
  constexpr std::uint32_t has_24_hours = 2, is_binary = 4, afternoon = 0x80;
  const auto number = [&](std::uint32_t value) {
    return (status_b & is_binary) != 0 ? value : (value >> 4) * 10 + (value & 15);
  };
  std::uint32_t hour = number(found.hour & ~afternoon);
  if ((status_b & has_24_hours) == 0) hour = hour % 12 + ((found.hour & afternoon) != 0 ? 12 : 0);
  const std::uint32_t year = number(found.year);
  const std::uint32_t century = has_century ? number(found.century) : year < 70 ? 20 : 19;
  return {century * 100 + year, number(found.month), number(found.day), hour,
          number(found.minute), number(found.second)};
}

}  // namespace

std::int64_t DateTime::seconds_since_1970() const {
  // Counted from a 1st of March, so that the leap day is a year's last, and months have 153 days in five.
  const std::int64_t from_march = (month + 9) % 12;
  const std::int64_t years = std::int64_t{year} - (month <= 2 ? 1 : 0);
  const std::int64_t days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * from_march + 2) / 5 + day - 1;
  constexpr std::int64_t days_until_1970 = 719'468;
  return ((days - days_until_1970) * 24 + hour) * 3600 + minute * 60 + second;
}

Result<DateTime> read_real_time_clock(std::uint8_t century_register) {
  // Between two looks it may begin to change: only what was read twice is true.
  for (int tries = 0; tries < 10; ++tries) {
    if (!await_rest()) break;
    const ClockRegisters first = read_all(century_register);
    const std::uint32_t status_b = read_clock(clock_status_b);
    if (!await_rest()) break;
    if (first != read_all(century_register)) continue;
    const DateTime date = decode(first, status_b, century_register != 0);
    if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31 || date.hour > 23 || date.minute > 59 ||
        date.second > 59 || date.year < 1970 || date.year > 2200) {
      return Error::of(ErrorCode::corrupt, "expected a date in the real-time clock, found year ", date.year, " month ",
                       date.month, " day ", date.day, ", ", date.hour, ":", date.minute, ":", date.second);
    }
    return date;
  }
  return Error::of(ErrorCode::unsupported, "expected a real-time clock at rest, found none");
}

}  // namespace ingot::os
