#include "os/device/acpi_power.h"

#include "os/device/acpi_tables.h"

namespace ingot::os {
namespace {

// Offsets in the FADT (table 5.9).
constexpr std::size_t dsdt_32 = 40, smi_command = 48, acpi_enable = 52, pm1a_control_32 = 64, pm1b_control_32 = 68,
                      flags_at = 112, reset_register = 116, reset_value_at = 128, dsdt_64 = 140, pm1a_control_64 = 172,
                      pm1b_control_64 = 184, sleep_control_at = 244;
constexpr std::uint32_t reset_supported = 1u << 10, hardware_reduced = 1u << 20;

std::optional<AcpiRegister> register_at(TableBytes table, std::size_t offset) {
  const auto address = number_or_zero<std::uint64_t>(table, offset + 4);
  const auto space = number_or_zero<std::uint8_t>(table, offset);
  if (address == 0 || space > static_cast<std::uint8_t>(AddressSpaceKind::pci_configuration)) return std::nullopt;
  return AcpiRegister{static_cast<AddressSpaceKind>(space), number_or_zero<std::uint8_t>(table, offset + 1), address};
}

// The extended field counts when it is there; the older one is a port.
std::optional<AcpiRegister> control_register(TableBytes table, std::size_t extended, std::size_t older) {
  if (const std::optional<AcpiRegister> found = register_at(table, extended)) return found;
  const auto port = number_or_zero<std::uint32_t>(table, older);
  if (port == 0 || port > 0xffff) return std::nullopt;
  return AcpiRegister{AddressSpaceKind::port, 16, port};
}

// One constant of the AML package at `offset`, which moves behind it (20.2.3).
std::optional<std::uint64_t> take_constant(TableBytes bytes, std::size_t& offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const auto opcode = number_inside<std::uint8_t>(bytes, offset++);
  std::size_t length = 0;
  switch (opcode) {
    case 0x00: return 0;
    case 0x01: return 1;
    case 0x0a: length = 1; break;
    case 0x0b: length = 2; break;
    case 0x0c: length = 4; break;
    default: return std::nullopt;
  }
  if (length > bytes.size() - offset) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = length; i-- > 0;) value = value << 8 | number_inside<std::uint8_t>(bytes, offset + i);
  offset += length;
  return value;
}

// PackageOp, its length (20.2.4), the number of its elements, the elements.
std::optional<AcpiSleepType> sleep_package(TableBytes bytes) {
  if (bytes.size() < 2 || bytes[0] != std::byte{0x12}) return std::nullopt;
  const auto lead = number_inside<std::uint8_t>(bytes, 1);
  const std::size_t more = lead >> 6;
  if (bytes.size() < 2 + more) return std::nullopt;
  std::size_t length = more == 0 ? lead & 0x3f : lead & 0x0f;
  for (std::size_t i = 0; i < more; ++i)
    length |= std::size_t{number_inside<std::uint8_t>(bytes, 2 + i)} << (4 + 8 * i);
  // The length counts from its own first byte.
  if (length < 1 + more + 1 || length > bytes.size() - 1) return std::nullopt;
  const TableBytes content = bytes.subspan(2 + more, length - 1 - more);
  const auto elements = number_inside<std::uint8_t>(content, 0);
  std::size_t offset = 1;
  const std::optional<std::uint64_t> a = take_constant(content, offset);
  if (elements < 1 || !a || *a > 7) return std::nullopt;
  if (elements < 2) return AcpiSleepType{static_cast<std::uint8_t>(*a), 0};
  const std::optional<std::uint64_t> b = take_constant(content, offset);
  if (!b || *b > 7) return std::nullopt;
  return AcpiSleepType{static_cast<std::uint8_t>(*a), static_cast<std::uint8_t>(*b)};
}

}  // namespace

Result<AcpiPower> AcpiPower::parse(TableBytes table) {
  AcpiPower power;
  const auto flags = TRY(number_at<std::uint32_t>(table, flags_at));
  power.reduced_hardware = (flags & hardware_reduced) != 0;
  if (!power.reduced_hardware) {
    power.pm1a_control = control_register(table, pm1a_control_64, pm1a_control_32);
    power.pm1b_control = control_register(table, pm1b_control_64, pm1b_control_32);
    const auto command = number_inside<std::uint32_t>(table, smi_command);
    power.command_port = command <= 0xffff ? static_cast<std::uint16_t>(command) : 0;
    power.enable_value = number_inside<std::uint8_t>(table, acpi_enable);
  }
  power.sleep_control = register_at(table, sleep_control_at);
  if ((flags & reset_supported) != 0) power.reset = register_at(table, reset_register);
  power.reset_value = number_or_zero<std::uint8_t>(table, reset_value_at);
  const auto extended = number_or_zero<std::uint64_t>(table, dsdt_64);
  power.dsdt = PhysicalAddress(extended != 0 ? extended : number_inside<std::uint32_t>(table, dsdt_32));
  return power;
}

Result<AcpiSleepType> find_soft_off(TableBytes dsdt) {
  constexpr std::string_view name = "_S5_";
  constexpr std::byte name_opcode{0x08};
  for (std::size_t at = AcpiTables::header_bytes + 1; at + name.size() <= dsdt.size(); ++at) {
    bool matches = true;
    for (std::size_t i = 0; i < name.size(); ++i) matches = matches && std::to_integer<char>(dsdt[at + i]) == name[i];
    if (!matches) continue;
    // NameOp stands before it, or NameOp and the root's backslash; anything else only mentions the name.
    const bool declared =
        dsdt[at - 1] == name_opcode || (dsdt[at - 1] == std::byte{'\\'} && dsdt[at - 2] == name_opcode);
    if (!declared) continue;
    if (const std::optional<AcpiSleepType> found = sleep_package(dsdt.subspan(at + name.size()))) return *found;
  }
  return Error::of(ErrorCode::not_found, "expected a constant package \\_S5 in the DSDT, found none in ", dsdt.size(),
                   " bytes");
}

}  // namespace ingot::os
