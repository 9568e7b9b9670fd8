// Power: the end of the machine's work. Off by ACPI's soft-off state; anew by whatever of the PC's ways to reset works.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "os/device/acpi_button.h"
#include "os/device/acpi_power.h"
#include "os/device/acpi_tables.h"
#include "os/memory/address.h"
#include "os/trace/log.h"

namespace ingot::os {

enum class Outcome : std::uint8_t { success, panic };

class Power {
 public:
  // `debug-exit`: end the emulator with a status instead. `panic=reset` and `panic=halt`: what a panic ends in, instead
  // of switching off.
  void apply_options(std::string_view command_line);

  // Reads the FADT and \_S5. Before that, and where it fails, the machine can only halt and be reset the old ways.
  // map(PhysicalAddress, bytes) -> Result<VirtualAddress> shows a device's registers.
  template <class Map>
  Result<void> learn(const AcpiTables& tables, Map&& map) {
    TRY(read(tables));
    for (Register* each : {&control_a_, &control_b_, &sleep_control_, &reset_}) {
      if (each->space != Register::Space::memory) continue;
      each->address = TRY(map(PhysicalAddress(each->address), sizeof(std::uint16_t))).value();
    }
    return {};
  }

  // As the tables told.
  const ButtonPlace& button() const { return button_; }

  [[noreturn]] void stop(Outcome outcome, Log& log);
  [[noreturn]] void restart(Log& log);

  // Firmware may have kept the fixed registers, and their interrupt, to itself until asked for them.
  void enable_acpi();

  // Each returns only where the machine did not obey.
  void try_to_switch_off();
  void try_to_reset();

 private:
  // `address` is a port, or a mapped one.
  struct Register {
    enum class Space : std::uint8_t { none, port, memory };
    Space space = Space::none;
    std::uint8_t bits = 0;
    std::uint64_t address = 0;

    std::uint16_t read() const;
    void write(std::uint16_t value) const;
  };

  static Register register_of(const std::optional<AcpiRegister>& found);
  Result<void> read(const AcpiTables& tables);

  bool exits_emulator_ = false;
  enum class AfterPanic : std::uint8_t { off, reset, halt } after_panic_ = AfterPanic::off;
  bool knows_off_ = false;
  AcpiSleepType off_;
  Register control_a_, control_b_, sleep_control_, reset_;
  std::uint8_t reset_value_ = 0;
  std::uint16_t command_port_ = 0;
  std::uint8_t enable_value_ = 0;
  ButtonPlace button_;
};

}  // namespace ingot::os
