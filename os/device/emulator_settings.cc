#include "os/device/emulator_settings.h"

#include <cstdint>

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t selector_port = 0x510, data_port = 0x511;
constexpr std::uint16_t signature_item = 0x00, directory_item = 0x19;
constexpr std::uint32_t most_files = 4096;  // a directory that says more is none
constexpr std::size_t name_bytes = 56;

void select(std::uint16_t item) { arch::write_port_16(selector_port, item); }

char next_byte() { return static_cast<char>(arch::read_port_8(data_port)); }

// The most significant byte first.
std::uint32_t next_number(int bytes) {
  std::uint32_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | arch::read_port_8(data_port);
  return number;
}

}  // namespace

bool EmulatorSettings::present() {
  constexpr std::uint32_t hypervisor = 1u << 31;
  if ((arch::cpuid(1).ecx & hypervisor) == 0) return false;
  select(signature_item);
  for (const char letter : std::string_view("QEMU")) {
    if (next_byte() != letter) return false;
  }
  return true;
}

Result<std::optional<std::string_view>> EmulatorSettings::read(std::string_view name, std::span<char> room) {
  if (!present()) return std::optional<std::string_view>();
  select(directory_item);
  const std::uint32_t count = next_number(4);
  for (std::uint32_t file = 0; file < count && file < most_files; ++file) {
    const std::uint32_t bytes = next_number(4);
    const auto item = static_cast<std::uint16_t>(next_number(2));
    next_number(2);  // reserved
    char letters[name_bytes];
    for (char& letter : letters) letter = next_byte();
    const std::string_view found(letters, name_bytes);
    if (found.substr(0, found.find('\0')) != name) continue;
    if (bytes > room.size()) {
      return Error::of(ErrorCode::unsupported, "expected at most ", room.size(), " bytes of ", name, ", found ", bytes);
    }
    select(item);
    for (std::uint32_t i = 0; i < bytes; ++i) room[i] = next_byte();
    return std::optional(std::string_view(room.data(), bytes));
  }
  return std::optional<std::string_view>();
}

}  // namespace ingot::os
