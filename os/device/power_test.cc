#include "os/device/power.h"

#include <gtest/gtest.h>

#include <array>

#include "os/device/fake_firmware.h"
#include "os/device/fake_ports.h"

namespace ingot::os {
namespace {

using Write = FakePorts::Write;

constexpr PhysicalAddress base(0xe0000);
constexpr PhysicalAddress root_at = base, rsdt_at = base + 0x100, fadt_at = base + 0x200, dsdt_at = base + 0x400;

// A FADT with PM1a at 0x604 and PM1b at 0x608; and a DSDT with \_S5 = {5, 6}.
TableBuilder fadt() {
  TableBuilder table("FACP", 268);
  table.number<std::uint32_t>(40, static_cast<std::uint32_t>(dsdt_at.value()));
  table.number<std::uint32_t>(64, 0x604).number<std::uint32_t>(68, 0x608);
  return table;
}

class PowerTest : public testing::Test {
 protected:
  // Learns from these tables; registers in memory lie in `registers_`.
  void learn(TableBuilder fadt_table) {
    FakeFirmware firmware(base, 0x1000);
    TableBuilder root(36);
    root.text(0, "RSD PTR ").number<std::uint32_t>(16, static_cast<std::uint32_t>(rsdt_at.value())).sum(8, 20);
    TableBuilder list("RSDT", 36);
    list.append({0, 2, 0x0e, 0});  // fadt_at
    TableBuilder dsdt("DSDT", 36);
    dsdt.append({0x08, '_', 'S', '5', '_', 0x12, 6, 2, 0x0a, 5, 0x0a, 6});
    firmware.put(root_at, root.bytes());
    firmware.put(rsdt_at, list.finish());
    firmware.put(fadt_at, fadt_table.finish());
    firmware.put(dsdt_at, dsdt.finish());
    const Result<AcpiTables> tables = AcpiTables::create(firmware, root_at);
    ASSERT_TRUE(tables.ok());
    const Result<void> learned = power_.learn(tables.value(), [&](PhysicalAddress address, std::uint64_t) {
      return Result<VirtualAddress>(
          VirtualAddress(reinterpret_cast<std::uint64_t>(&registers_[address.value() & 0xff])));
    });
    ASSERT_TRUE(learned.ok()) << learned.error().text();
  }

  FakePorts ports_;
  Power power_;
  std::array<std::uint8_t, 256> registers_{};
};

TEST_F(PowerTest, SwitchesOffByBothHalvesOfTheControlRegisterAndKeepsItsOtherBits) {
  learn(fadt());
  ports_.answers[0x604] = {0x0801};
  ports_.answers[0x608] = {0};
  power_.try_to_switch_off();
  EXPECT_EQ(ports_.writes, (std::vector<Write>{{0x604, 5u << 10 | 1u << 13 | 1, 2}, {0x608, 6u << 10 | 1u << 13, 2}}));
}

TEST_F(PowerTest, AsksFirmwareForTheRegistersFirst) {
  TableBuilder table = fadt();
  table.number<std::uint32_t>(48, 0xb2).number<std::uint8_t>(52, 0xf1);
  learn(table);
  ports_.answers[0x604] = {0, 0, 0, 1};  // enabled at the third look
  power_.try_to_switch_off();
  ASSERT_EQ(ports_.writes.size(), 3u);
  EXPECT_EQ(ports_.writes[0], Write(0xb2, 0xf1, 1));
  EXPECT_EQ(ports_.writes[1], Write(0x604, 5u << 10 | 1u << 13 | 1, 2));
}

TEST_F(PowerTest, UsesTheSleepControlRegisterOfReducedHardware) {
  TableBuilder table = fadt();
  table.number<std::uint32_t>(112, 1u << 20 | 1u << 10);
  table.number<std::uint8_t>(244, 0).number<std::uint8_t>(245, 8).number<std::uint64_t>(248, 0xfea00020);
  table.number<std::uint8_t>(116, 0).number<std::uint8_t>(117, 8).number<std::uint64_t>(120, 0xfea00022);
  table.number<std::uint8_t>(128, 0x42);
  learn(table);
  power_.try_to_switch_off();
  EXPECT_EQ(registers_[0x20], 5u << 2 | 1u << 5);
  EXPECT_TRUE(ports_.writes.empty());
  power_.try_to_reset();
  EXPECT_EQ(registers_[0x22], 0x42);
}

TEST_F(PowerTest, LearnsWhereTheButtonIs) {
  learn(fadt());
  EXPECT_FALSE(power_.button().fixed || power_.button().event_device);
  TableBuilder table = fadt();
  table.number<std::uint32_t>(56, 0x600).number<std::uint8_t>(88, 4);
  learn(table);
  ASSERT_TRUE(power_.button().fixed);
  EXPECT_EQ(power_.button().fixed->status_ports[0], 0x600);
}

TEST_F(PowerTest, ResetsByTheChipsetThenByTheKeyboardControllerWhereTablesNameNothing) {
  ports_.answers[0x64] = {2, 0};
  power_.try_to_reset();
  EXPECT_EQ(ports_.writes, (std::vector<Write>{{0xcf9, 2, 1}, {0xcf9, 6, 1}, {0x64, 0xfe, 1}}));
}

TEST_F(PowerTest, WithoutTablesDoesNotGuessHowToSwitchOff) {
  power_.try_to_switch_off();
  EXPECT_TRUE(ports_.writes.empty());
}

using PowerDeathTest = PowerTest;
TEST_F(PowerDeathTest, EndsTheEmulatorOnlyWhenAsked) {
  // halt_forever aborts the process of a test: its last words are what was written.
  const auto stop = [&](std::string_view options, Outcome outcome) {
    struct Teller final : FakePorts {
      void write(std::uint16_t port, std::uint32_t value, unsigned) override {
        fprintf(stderr, "port %x value %x\n", port, value);
      }
    } teller;
    power_ = Power();
    power_.apply_options(options);
    Log log;
    power_.stop(outcome, log);
  };
  EXPECT_DEATH(stop("debug-exit", Outcome::success), "^port f4 value 10\n$");
  EXPECT_DEATH(stop("quiet debug-exit", Outcome::panic), "^port f4 value 11\n$");
  EXPECT_DEATH(stop("", Outcome::success), "^$");
  EXPECT_DEATH(stop("panic=halt", Outcome::panic), "^$");
  EXPECT_DEATH(stop("panic=reset", Outcome::panic), "^port cf9 value 2\nport cf9 value 6\nport 64 value fe\n$");
}

}  // namespace
}  // namespace ingot::os
