// How to switch off and to reset, from the FADT and the \_S5 object of the DSDT (ACPI 6.5, 4.8.3, 5.2.9, 7.4.2).
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/device/acpi_bytes.h"

namespace ingot::os {

enum class AddressSpaceKind : std::uint8_t { memory = 0, port = 1, pci_configuration = 2 };

// A register, wherever it is (the specification's Generic Address Structure).
struct AcpiRegister {
  AddressSpaceKind space{};
  std::uint8_t bits = 0;
  std::uint64_t address = 0;

  bool operator==(const AcpiRegister&) const = default;
};

// The values that mean "off" for the two halves of the PM1 control register.
struct AcpiSleepType {
  std::uint8_t a = 0;
  std::uint8_t b = 0;

  bool operator==(const AcpiSleepType&) const = default;
};

struct AcpiPower {
  bool reduced_hardware = false;  // there are no PM1 registers; sleep_control it is
  std::optional<AcpiRegister> pm1a_control;
  std::optional<AcpiRegister> pm1b_control;
  std::optional<AcpiRegister> sleep_control;
  std::optional<AcpiRegister> reset;
  std::uint8_t reset_value = 0;
  // Some machines start with ACPI off: then `enable_value` goes to this port first.
  std::uint16_t command_port = 0;
  std::uint8_t enable_value = 0;
  PhysicalAddress dsdt;

  // `table` is the checked FADT ("FACP").
  static Result<AcpiPower> parse(TableBytes table);
};

// The DSDT is a program. \_S5 is nearly always a plain package of constants, and is found as such; one that is computed
// is not found, which is an error, never a guess.
Result<AcpiSleepType> find_soft_off(TableBytes dsdt);

// What switches the machine off: written as one number of `control`'s width.
constexpr std::uint16_t pm1_off_value(std::uint8_t sleep_type) {
  return static_cast<std::uint16_t>((sleep_type & 7u) << 10 | 1u << 13);
}
constexpr std::uint8_t sleep_control_off_value(std::uint8_t sleep_type) {
  return static_cast<std::uint8_t>((sleep_type & 7u) << 2 | 1u << 5);
}

}  // namespace ingot::os
