#include <gtest/gtest.h>

#include "base/random.h"
#include "os/interrupt/calibration.h"
#include "os/interrupt/cycle_clock.h"
#include "os/interrupt/monotonic_clock.h"

namespace ingot::os {
namespace {

TEST(CycleClock, LosesLessThanANanosecondEvery2To32Cycles) {
  RandomNumbers numbers(1);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t rate = CycleClock::slowest + numbers.below(10'000'000'000);
    const Result<CycleClock> clock = CycleClock::create(rate);
    ASSERT_TRUE(clock.ok());
    const std::uint64_t cycles = numbers.next() >> numbers.below(64) >> 2;
    const long double exact = static_cast<long double>(cycles) * 1e9L / static_cast<long double>(rate);
    const auto found = static_cast<long double>(clock.value().nanoseconds(cycles).count());
    if (exact > 9e18L) continue;  // beyond 292 years
    EXPECT_LE(found, exact * (1 + 1e-18L)) << rate << " " << cycles;
    EXPECT_GE(found, exact - static_cast<long double>(cycles) / 0x1p32L - 1.01L) << rate << " " << cycles;
  }
}

TEST(CycleClock, NanosecondsBecomeCyclesAndStayWhereACounterEnds) {
  RandomNumbers numbers(3);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t rate = CycleClock::slowest + numbers.below(10'000'000'000);
    const CycleClock clock = CycleClock::create(rate).value();
    const auto time = static_cast<std::int64_t>(numbers.next() >> 1 >> numbers.below(63));
    const long double exact = static_cast<long double>(time) * static_cast<long double>(rate) / 1e9L;
    const auto found = static_cast<long double>(clock.cycles(Nanoseconds(time)));
    if (exact > 1.8e19L) {
      EXPECT_GE(found, 1.8e19L);
    } else {
      EXPECT_LE(found, exact * (1 + 1e-18L));
      EXPECT_GE(found, exact * (1 - 1e-4L) - 1.01L) << rate << " " << time;
    }
  }
}

TEST(MonotonicClock, AddsWhatThisCpuLacksAndFindsTheWayBack) {
  const MonotonicClock clock(CycleClock::create(1'000'000'000).value(), 1000);
  const std::int64_t before = clock.now().count();
  arch::current_cpu().cycle_offset = 5'000'000'000'000;
  EXPECT_GE(clock.now().count(), before + 5'000'000'000'000);
  EXPECT_EQ(clock.cycles_at(Nanoseconds(7'000'000'000'000)), 2'000'000'001'000u);
  arch::current_cpu().cycle_offset = 0;
  EXPECT_EQ(clock.cycles_at(Nanoseconds(0x7fffffffffffffff)), 0x7fffffffffffffffu + 1000);
}

TEST(CycleClock, RefusesRatesThatNoCounterHas) {
  EXPECT_FALSE(CycleClock::create(0).ok());
  EXPECT_FALSE(CycleClock::create(CycleClock::slowest - 1).ok());
  EXPECT_FALSE(CycleClock::create(CycleClock::fastest + 1).ok());
}

// A machine in which every reading takes time: both counters are functions of it.
struct FakeMachine {
  std::uint64_t now = 0;             // in cycles
  std::uint64_t rate = 0;            // cycles a second
  std::uint64_t reading_cycles = 0;  // what a reading costs
  std::uint64_t ticks_per_second = 1'193'182;
  bool has_timer = true;

  std::uint32_t ticks() {
    now += reading_cycles;
    if (!has_timer) return 0xffff;
    return static_cast<std::uint16_t>(0 - now * ticks_per_second / rate);
  }
  std::uint64_t cycles() { return now; }
};

Result<std::uint64_t> measure(FakeMachine& machine) {
  return measure_cycles_per_second(
      {1'193'182, 0xffff}, 180, [&] { return machine.ticks(); }, [&] { return machine.cycles(); });
}

TEST(Calibration, FindsTheRateWithinOneReading) {
  RandomNumbers numbers(2);
  for (int round = 0; round < 500; ++round) {
    FakeMachine machine;
    machine.rate = 500'000'000 + numbers.below(5'000'000'000);
    machine.now = numbers.below(machine.rate);
    machine.reading_cycles = 1 + numbers.below(machine.rate / 1'193'182 / 2);  // up to half a tick
    const Result<std::uint64_t> found = measure(machine);
    ASSERT_TRUE(found.ok()) << found.error().text();
    const double error = static_cast<double>(found.value()) / static_cast<double>(machine.rate) - 1;
    EXPECT_LT(error < 0 ? -error : error, 0.006) << machine.rate << " " << machine.reading_cycles;
  }
}

TEST(Calibration, ReadingsSlowerThanTheTimerStillCountItsTicks) {
  FakeMachine machine;
  machine.rate = 1'000'000'000;
  machine.reading_cycles = 3000;  // three and a half ticks
  const Result<std::uint64_t> found = measure(machine);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(static_cast<double>(found.value()), 1e9, 2e7);
}

TEST(Calibration, MeasuresAgainWhenTheCpuWasTakenAway) {
  FakeMachine machine;
  machine.rate = 2'000'000'000;
  machine.reading_cycles = 100;
  int readings = 0;
  const Result<std::uint64_t> found = measure_cycles_per_second(
      {1'193'182, 0xffff}, 180,
      [&] {
        if (++readings == 2000) machine.now += machine.rate * 7 / 100;  // longer than the timer takes to wrap
        return machine.ticks();
      },
      [&] { return machine.cycles(); });
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(static_cast<double>(found.value()), 2e9, 1e7);
}

TEST(Calibration, AMissingTimerIsAnError) {
  FakeMachine machine;
  machine.rate = 1'000'000'000;
  machine.reading_cycles = 10;
  machine.has_timer = false;
  EXPECT_EQ(measure(machine).error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace ingot::os
