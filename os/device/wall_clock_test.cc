#include "os/device/wall_clock.h"

#include <gtest/gtest.h>

#include <ctime>

#include "os/device/fake_ports.h"

namespace ingot::os {
namespace {

// The clock's registers behind its two ports.
class FakeClock : public FakePorts {
 public:
  FakeClock() {
    registers[0] = 0x56, registers[2] = 0x34, registers[4] = 0x12;
    registers[7] = 0x29, registers[8] = 0x02, registers[9] = 0x24;
    registers[10] = 0x26, registers[11] = 0x02, registers[0x32] = 0x20;
  }
  std::uint8_t registers[128] = {};
  int reads_until_change = -1;  // then a second passes
  int looks_while_changing = 0;

  std::uint32_t read(std::uint16_t port, unsigned) override {
    if (port != 0x71) return 0xff;
    if (index_ == 10 && looks_while_changing > 0) return --looks_while_changing, 0xa6;
    if (index_ == 0 && reads_until_change >= 0 && reads_until_change-- == 0) registers[0] = 0x57;
    return registers[index_];
  }
  void write(std::uint16_t port, std::uint32_t value, unsigned) override {
    if (port == 0x70) index_ = value & 0x7f;
  }

 private:
  std::uint32_t index_ = 0;
};

constexpr DateTime leap_day{2024, 2, 29, 12, 34, 56};

TEST(RealTimeClock, ReadsDecimalDigits) {
  FakeClock clock;
  EXPECT_EQ(read_real_time_clock(0x32).value(), leap_day);
  EXPECT_EQ(read_real_time_clock(0).value(), leap_day);
  clock.registers[0x32] = 0x21;
  EXPECT_EQ(read_real_time_clock(0x32).value().year, 2124u);
  clock.registers[9] = 0x70;
  EXPECT_EQ(read_real_time_clock(0).value().year, 1970u);
}

TEST(RealTimeClock, ReadsBinaryNumbers) {
  FakeClock clock;
  clock.registers[11] = 0x06;
  clock.registers[0] = 56, clock.registers[2] = 34, clock.registers[4] = 12;
  clock.registers[7] = 29, clock.registers[8] = 2, clock.registers[9] = 24, clock.registers[0x32] = 20;
  EXPECT_EQ(read_real_time_clock(0x32).value(), leap_day);
}

TEST(RealTimeClock, ReadsTwelveHours) {
  FakeClock clock;
  clock.registers[11] = 0;
  const auto hour = [&](std::uint8_t value) {
    clock.registers[4] = value;
    return read_real_time_clock(0).value().hour;
  };
  EXPECT_EQ(hour(0x12), 0u);
  EXPECT_EQ(hour(0x11), 11u);
  EXPECT_EQ(hour(0x92), 12u);
  EXPECT_EQ(hour(0x91), 23u);
}

TEST(RealTimeClock, WaitsWhileItChangesAndReadsAgainWhatChanged) {
  FakeClock clock;
  clock.looks_while_changing = 40;
  clock.reads_until_change = 1;  // between the two readings
  EXPECT_EQ(read_real_time_clock(0).value().second, 57u);
}

TEST(RealTimeClock, ThatIsNotThereOrLiesIsAnError) {
  {
    FakePorts nothing;  // ones everywhere: always changing
    EXPECT_FALSE(read_real_time_clock(0x32).ok());
  }
  FakeClock clock;
  clock.registers[8] = 0x13;
  EXPECT_FALSE(read_real_time_clock(0x32).ok());
}

TEST(DateTime, CountsSecondsAsTheHostDoes) {
  for (std::int64_t seconds = 0; seconds < 7'000'000'000; seconds += 12'345'678) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    const auto part = [](int value) { return static_cast<std::uint32_t>(value); };
    const DateTime date{part(parts.tm_year + 1900), part(parts.tm_mon + 1), part(parts.tm_mday),
                        part(parts.tm_hour),        part(parts.tm_min),     part(parts.tm_sec)};
    ASSERT_EQ(date.seconds_since_1970(), seconds);
  }
}

TEST(WallClock, GoesOnWithTheMonotonicClock) {
  const WallClock clock({1970, 1, 2, 0, 0, 0}, Nanoseconds(500));
  EXPECT_EQ(clock.at(Nanoseconds(500)), Nanoseconds(86'400'000'000'000));
  EXPECT_EQ(clock.at(Nanoseconds(1500)), Nanoseconds(86'400'000'001'000));
}

}  // namespace
}  // namespace ingot::os
