#include <gtest/gtest.h>

#include "os/device/apic_alarm.h"
#include "os/device/cycle_rate.h"
#include "os/device/fake_ports.h"
#include "os/device/fake_registers.h"
#include "os/device/interval_timer.h"

namespace ingot::os {
namespace {

MonotonicClock clock_at(std::uint64_t start) { return {CycleClock::create(1'000'000'000).value(), start}; }

TEST(Hpet, RunsAndTellsItsRate) {
  FakeRegisters registers;
  registers.words[0x4] = 10'000'000;  // 10 ns
  registers.words[0xf0] = 77;
  const Result<Hpet> hpet = Hpet::create(registers);
  ASSERT_TRUE(hpet.ok());
  EXPECT_EQ(hpet.value().ticks_per_second(), 100'000'000u);
  EXPECT_EQ(hpet.value().read(), 77u);
  EXPECT_EQ(registers.writes, (std::vector<FakeRegisters::Write>{{0x10, 1}}));
  registers.words[0x4] = 0;
  EXPECT_FALSE(Hpet::create(registers).ok());
  registers.words[0x4] = 0xffffffff;
  EXPECT_FALSE(Hpet::create(registers).ok());
}

class CpuidTest : public ::testing::Test {
 protected:
  ~CpuidTest() override { arch::hosted::thread.cpuid = nullptr; }
};

TEST_F(CpuidTest, ARateIsTheCrystalsTimesTheRatio) {
  arch::hosted::thread.cpuid = [](std::uint32_t leaf) -> arch::CpuidResult {
    if (leaf == 0x15) return {2, 168, 25'000'000, 0};
    return {0x16, 0, 0, 0};
  };
  EXPECT_EQ(told_cycle_rate().cycles_per_second, 2'100'000'000u);
}

TEST_F(CpuidTest, WithoutACrystalItIsTheNominalRate) {
  arch::hosted::thread.cpuid = [](std::uint32_t leaf) -> arch::CpuidResult {
    if (leaf == 0x15) return {2, 216, 0, 0};
    if (leaf == 0x16) return {2600, 0, 0, 0};
    return {0x16, 0, 0, 0};
  };
  EXPECT_EQ(told_cycle_rate().cycles_per_second, 2'600'000'000u);
}

TEST_F(CpuidTest, AHypervisorTellsKilohertz) {
  arch::hosted::thread.cpuid = [](std::uint32_t leaf) -> arch::CpuidResult {
    if (leaf == 1) return {0, 0, 1u << 31, 0};
    if (leaf == 0x40000000) return {0x40000010, 0, 0, 0};
    if (leaf == 0x40000010) return {1'995'000, 0, 0, 0};
    return {0xd, 0, 0, 0};
  };
  EXPECT_EQ(told_cycle_rate().cycles_per_second, 1'995'000'000u);
  EXPECT_EQ(told_cycle_rate().source, "the hypervisor");
}

TEST_F(CpuidTest, ACounterIsInvariantWhereTheCpuSaysSo) {
  EXPECT_FALSE(counts_evenly());
  arch::hosted::thread.cpuid = [](std::uint32_t leaf) -> arch::CpuidResult {
    if (leaf == 0x8000'0000) return {0x8000'0008, 0, 0, 0};
    return {0, 0, 0, leaf == 0x8000'0007 ? 1u << 8 : 0};
  };
  EXPECT_TRUE(counts_evenly());
}

TEST_F(CpuidTest, ACpuThatTellsNothingMustBeMeasured) { EXPECT_EQ(told_cycle_rate().cycles_per_second, 0u); }

TEST(ApicAlarm, ByDeadlineItWritesTheCounterValue) {
  FakeRegisters registers;
  XApicRegisters xapic(registers);
  LocalApic local(xapic);
  const MonotonicClock clock = clock_at(1000);
  Result<ApicAlarm> alarm = ApicAlarm::create(local, clock, true);
  ASSERT_TRUE(alarm.ok());
  alarm.value().attach_cpu();
  EXPECT_EQ(registers.words[0x320], 0x400f0u);
  alarm.value().ring_at(Nanoseconds(5000));
  EXPECT_EQ(arch::hosted::thread.model_register, 0x6e0u);
  EXPECT_EQ(arch::hosted::thread.model_value, 6000u);
  alarm.value().ring_at(Nanoseconds(-5));
  EXPECT_EQ(arch::hosted::thread.model_value, 1u);
}

// Its timer counts down with the host's clock, at half the rate.
class RunningTimer final : public Registers {
 public:
  std::uint32_t read(std::uint32_t offset) const override {
    return offset == 0x390 ? static_cast<std::uint32_t>(0xffffffff - (arch::cycle_count() - begun) / 2) : 0;
  }
  void write(std::uint32_t offset, std::uint32_t value) override {
    if (offset == 0x380) started = value, begun = arch::cycle_count();
  }
  std::uint32_t started = 0;
  std::uint64_t begun = 0;
};

TEST(ApicAlarm, ByCountingItMeasuresItsRateAndSetsTheRest) {
  RunningTimer registers;
  XApicRegisters xapic(registers);
  LocalApic local(xapic);
  const MonotonicClock clock = clock_at(arch::cycle_count());
  Result<ApicAlarm> alarm = ApicAlarm::create(local, clock, false);
  ASSERT_TRUE(alarm.ok());
  ASSERT_TRUE(alarm.value().rate());
  EXPECT_NEAR(static_cast<double>(alarm.value().rate()->cycles_per_second()), 5e8, 1e8);
  alarm.value().ring_at(Nanoseconds(0));
  EXPECT_EQ(registers.started, 1u);
  alarm.value().ring_at(clock.now() + Nanoseconds(1'000'000'000'000'000));
  EXPECT_EQ(registers.started, 0xffffffffu);
}

TEST(IntervalAlarm, RingsWithinWhatItsCounterHolds) {
  FakePorts ports;
  const MonotonicClock clock = clock_at(arch::cycle_count());
  IntervalAlarm alarm = IntervalAlarm::create(clock).value();
  alarm.ring_at(Nanoseconds(0));
  EXPECT_EQ(ports.writes, (std::vector<FakePorts::Write>{{0x43, 0x30, 1}, {0x40, 1, 1}, {0x40, 0, 1}}));
  ports.writes.clear();
  alarm.ring_at(clock.now() + Nanoseconds(1'000'000'000'000));
  EXPECT_EQ(ports.writes, (std::vector<FakePorts::Write>{{0x43, 0x30, 1}, {0x40, 0xff, 1}, {0x40, 0xff, 1}}));
}

}  // namespace
}  // namespace ingot::os
