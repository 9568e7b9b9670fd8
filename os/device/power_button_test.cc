#include "os/device/power_button.h"

#include <gtest/gtest.h>

#include <string>

#include "os/device/fake_firmware.h"
#include "os/device/fake_ports.h"
#include "os/device/legacy_pic.h"

namespace ingot::os {
namespace {

using Write = FakePorts::Write;
using namespace std::string_view_literals;

// As QEMU 7.2 makes it for a microvm, from the device's name to what follows its method.
constexpr std::string_view event_device =
    "[\x82L\x06GED_\x08_HID\x0d"
    "ACPI0013\0\x08_UID\x0dGED\0\x08_CRS\x11\x0e\x0a\x0b\x89\x06\0\x03\x01\x09\0\0\0y\0[\x80"
    "EREG\0\x0c\0\0\xa0\xfe\x0a\x04[\x81\x0b"
    "EREGCESEL \x14\x1d_EVT\x09pESEL`\xa0\x10\x93{`\x0a\x02\0\x0a\x02\x86PWRB\x0a\x80[\x82\x19PWRB"sv;

std::vector<std::byte> dsdt_with(std::string_view device) {
  TableBuilder table("DSDT", 36 + device.size());
  return table.text(36, device).finish();
}

// A PC: PM1a events at 0x600, four bytes of them; general events at 0x620, sixteen bytes; interrupt 9.
TableBuilder fadt() {
  TableBuilder table("FACP", 244);
  table.number<std::uint16_t>(46, 9).number<std::uint32_t>(56, 0x600).number<std::uint8_t>(88, 4);
  table.number<std::uint32_t>(80, 0x620).number<std::uint8_t>(92, 4);
  return table;
}

TEST(FixedButton, IsWhereTheTableSays) {
  TableBuilder table = fadt();
  table.number<std::uint32_t>(60, 0x700).number<std::uint32_t>(84, 0x640).number<std::uint8_t>(93, 8);
  const std::optional<FixedButton> button = parse_fixed_button(table.bytes());
  ASSERT_TRUE(button);
  EXPECT_EQ(button->interrupt, 9);
  EXPECT_EQ(button->status_ports, (std::array<std::uint16_t, 2>{0x600, 0x700}));
  EXPECT_EQ(button->enable_ports, (std::array<std::uint16_t, 2>{0x602, 0x702}));
  EXPECT_EQ(button->general_events[0].first_enable_port, 0x622);
  EXPECT_EQ(button->general_events[0].count, 2);
  EXPECT_EQ(button->general_events[1].first_enable_port, 0x644);
  EXPECT_EQ(button->general_events[1].count, 4);
}

TEST(FixedButton, IsNotGuessedAt) {
  EXPECT_FALSE(parse_fixed_button({}));
  EXPECT_FALSE(parse_fixed_button(std::vector<std::byte>(100))) << "a table that ends early";
  EXPECT_FALSE(parse_fixed_button(fadt().number<std::uint32_t>(112, 1u << 4).bytes())) << "one for bytecode";
  EXPECT_FALSE(parse_fixed_button(fadt().number<std::uint32_t>(112, 1u << 20).bytes())) << "reduced hardware";
  EXPECT_FALSE(parse_fixed_button(fadt().number<std::uint8_t>(88, 2).bytes())) << "no room for an enable register";
  EXPECT_FALSE(parse_fixed_button(fadt().number<std::uint32_t>(56, 0).bytes()));
  EXPECT_FALSE(parse_fixed_button(fadt().number<std::uint32_t>(56, 0xfffffe).bytes())) << "no port";
}

TEST(FixedButton, ItsLineIsALevelUnlessTheTableOfInterruptsSaysOtherwise) {
  LegacyPic controller;
  FixedButton button;
  button.interrupt = 9;
  EXPECT_EQ(button.line(nullptr, controller), controller.isa_line(9));
  AcpiInterrupts interrupts;
  EXPECT_EQ(button.line(&interrupts, controller), (InterruptLine{9, Polarity::active_low, Trigger::level}));
  ASSERT_TRUE(interrupts.overrides.add({9, 9, Polarity::active_high, Trigger::level}));
  EXPECT_EQ(button.line(&interrupts, controller), controller.isa_line(9));
  button.interrupt = 20;
  EXPECT_EQ(button.line(nullptr, controller), (InterruptLine{20, Polarity::active_low, Trigger::level}));
}

TEST(EventDevice, IsTheEmulatorsOwn) {
  const std::optional<EventDevice> device = find_event_device(dsdt_with(event_device));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->selector, PhysicalAddress(0xfea00000));
  EXPECT_EQ(device->line, (InterruptLine{9, Polarity::active_high, Trigger::edge}));
}

TEST(EventDevice, AnyOtherIsLeftAlone) {
  EXPECT_FALSE(find_event_device({}));
  std::size_t own_bytes = 0;
  const std::size_t begin = event_device.find("\x08_HID"), end = event_device.find("[\x82\x19");
  for (std::size_t at = begin; at < end; ++at) {
    std::string changed(event_device);
    changed[at] = static_cast<char>(changed[at] ^ 1);
    if (find_event_device(dsdt_with(changed))) ++own_bytes;
    EXPECT_FALSE(find_event_device(dsdt_with(event_device.substr(0, at)))) << at;
  }
  EXPECT_EQ(own_bytes, 7u) << "line and address, whose lowest bit is none";
}

class ButtonTest : public testing::Test {
 protected:
  struct Listener final : PowerButtonListener {
    void power_button_pressed() override { ++presses; }
    int presses = 0;
  };
  // Told once, as the device does.
  struct Events final : Registers {
    std::uint32_t read(std::uint32_t) const override { return std::exchange(word, 0); }
    void write(std::uint32_t, std::uint32_t) override {}
    mutable std::uint32_t word = 0;
  };

  void interrupt() {
    arch::TrapFrame frame{};
    PowerButton::on_interrupt(&button_, frame);
  }

  FakePorts ports_;
  Log log_;
  LegacyPic controller_;
  PowerButton button_;
  Listener listener_;
  Events events_;
};

TEST_F(ButtonTest, FixedRegistersTellOfItAndNothingElseInterrupts) {
  button_.start({log_, controller_, 9}, *parse_fixed_button(fadt().bytes()));
  EXPECT_EQ(ports_.writes, (std::vector<Write>{{0x622, 0, 1}, {0x623, 0, 1}, {0x602, 0x100, 2}}));
  button_.set_listener(&listener_);
  ports_.writes.clear();
  ports_.answers[0x600] = {0x0131, 0x0031};
  interrupt();
  EXPECT_EQ(listener_.presses, 1);
  EXPECT_EQ(ports_.writes, (std::vector<Write>{{0x600, 0x100, 2}})) << "no other event is touched";
  interrupt();
  EXPECT_EQ(listener_.presses, 1);
}

TEST_F(ButtonTest, AnEventDeviceTellsOfIt) {
  button_.start({log_, controller_, 9}, events_);
  button_.set_listener(&listener_);
  events_.word = 1;  // memory was plugged in
  interrupt();
  EXPECT_EQ(listener_.presses, 0);
  events_.word = 3;
  interrupt();
  interrupt();
  EXPECT_EQ(listener_.presses, 1);
}

TEST_F(ButtonTest, APressIsKeptForWhoListensNext) {
  button_.start({log_, controller_, 9}, events_);
  events_.word = 2;
  EXPECT_TRUE(button_.look());
  button_.set_listener(&listener_);
  EXPECT_EQ(listener_.presses, 1);
  button_.set_listener(nullptr);
  button_.set_listener(&listener_);
  EXPECT_EQ(listener_.presses, 1) << "of one press it is told once";
}

TEST_F(ButtonTest, WithoutHardwareNobodyPressesIt) {
  button_.set_listener(&listener_);
  EXPECT_FALSE(button_.look());
  EXPECT_EQ(listener_.presses, 0);
}

TEST_F(ButtonTest, ALineThatNeverRestsIsGivenUp) {
  button_.start({log_, controller_, 9}, events_);
  for (int count = 0; count < 999; ++count) interrupt();
  events_.word = 2;
  interrupt();
  ports_.writes.clear();
  for (int count = 0; count < 999; ++count) interrupt();
  EXPECT_TRUE(ports_.writes.empty());
  interrupt();
  EXPECT_EQ(ports_.writes, (std::vector<Write>{{0x21, 0xff, 1}, {0xa1, 0xff, 1}}));
}

}  // namespace
}  // namespace ingot::os
