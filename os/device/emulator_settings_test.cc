#include "os/device/emulator_settings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "os/arch/arch.h"

namespace ingot::os {
namespace {

std::string big_endian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// Selecting an item begins at its first byte; past the last one come zeros.
class FakeSettings final : public arch::hosted::Ports {
 public:
  explicit FakeSettings(bool hypervisor = true) {
    arch::hosted::thread.ports = this;
    if (hypervisor) arch::hosted::thread.cpuid = [](std::uint32_t) { return arch::CpuidResult{0, 0, 1u << 31, 0}; };
    items[0] = "QEMU";
  }
  ~FakeSettings() {
    arch::hosted::thread.ports = nullptr;
    arch::hosted::thread.cpuid = nullptr;
  }

  void add(std::string name, const std::string& text) {
    const auto item = static_cast<std::uint16_t>(0x20 + count_);
    name.resize(56);
    entries_ +=
        big_endian(static_cast<std::uint32_t>(text.size()), 4) + big_endian(item, 2) + std::string(2, '\0') + name;
    items[item] = text;
    items[0x19] = big_endian(++count_, 4) + entries_;
  }

  std::uint32_t read(std::uint16_t port, unsigned) override {
    if (port != 0x511) return ~0u;
    ++reads;
    const std::string& item = items[selected_];
    return at_ < item.size() ? static_cast<unsigned char>(item[at_++]) : 0;
  }
  void write(std::uint16_t port, std::uint32_t value, unsigned width) override {
    EXPECT_EQ(port, 0x510);
    EXPECT_EQ(width, 2u);
    selected_ = static_cast<std::uint16_t>(value);
    at_ = 0;
  }

  std::map<std::uint16_t, std::string> items;
  int reads = 0;

 private:
  std::uint16_t selected_ = 0;
  std::size_t at_ = 0;
  std::uint32_t count_ = 0;
  std::string entries_;
};

TEST(EmulatorSettings, AreFoundByTheirName) {
  FakeSettings settings;
  settings.add("etc/table-loader", "zzz");
  settings.add("opt/ingot/command-line", "-- run -p a%20b");
  char room[64];
  EXPECT_EQ(EmulatorSettings::read("opt/ingot/command-line", room).value(), "-- run -p a%20b");
  EXPECT_EQ(EmulatorSettings::read("opt/ingot/command", room).value(), std::nullopt);
}

TEST(EmulatorSettings, LongerThanTheRoomAreRefused) {
  FakeSettings settings;
  settings.add("long", std::string(65, 'x'));
  char room[64];
  EXPECT_FALSE(EmulatorSettings::read("long", room).ok());
}

TEST(EmulatorSettings, AreNotSoughtOnARealMachineNorBelievedOfAnother) {
  char room[64];
  {
    FakeSettings real(false);
    EXPECT_EQ(EmulatorSettings::read("x", room).value(), std::nullopt);
    EXPECT_EQ(real.reads, 0);
  }
  FakeSettings other;
  other.items[0] = std::string(4, '\xff');
  other.add("x", "y");
  EXPECT_EQ(EmulatorSettings::read("x", room).value(), std::nullopt);
}

}  // namespace
}  // namespace ingot::os
