#include "os/device/power.h"

#include "os/arch/arch.h"
#include "os/boot/command_line.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t debug_exit_port = 0xf4, diagnostic_port = 0x80, reset_control_port = 0xcf9,
                        keyboard_command_port = 0x64;

// A read of the diagnostic port takes about a microsecond on every PC, and means nothing: the clock of those who may
// not rely on one. 50 milliseconds are more than any chipset takes to obey.
void wait_for_the_end() {
  for (int count = 0; count < 50'000; ++count) {
    arch::read_port_8(diagnostic_port);
    arch::pause();
  }
}

}  // namespace

std::uint16_t Power::Register::read() const {
  if (space == Space::port)
    return bits > 8 ? arch::read_port_16(static_cast<std::uint16_t>(address))
                    : arch::read_port_8(static_cast<std::uint16_t>(address));
  if (bits > 8) return *reinterpret_cast<const volatile std::uint16_t*>(address);
  return *reinterpret_cast<const volatile std::uint8_t*>(address);
}

void Power::Register::write(std::uint16_t value) const {
  const auto low = static_cast<std::uint8_t>(value);
  if (space == Space::port && bits > 8) arch::write_port_16(static_cast<std::uint16_t>(address), value);
  if (space == Space::port && bits <= 8) arch::write_port_8(static_cast<std::uint16_t>(address), low);
  if (space == Space::memory && bits > 8) *reinterpret_cast<volatile std::uint16_t*>(address) = value;
  if (space == Space::memory && bits <= 8) *reinterpret_cast<volatile std::uint8_t*>(address) = low;
}

Power::Register Power::register_of(const std::optional<AcpiRegister>& found) {
  if (!found || found->space == AddressSpaceKind::pci_configuration) return {};
  const auto space = found->space == AddressSpaceKind::port ? Register::Space::port : Register::Space::memory;
  return {space, found->bits, found->address};
}

void Power::apply_options(std::string_view command_line) {
  exits_emulator_ = command_line_option(command_line, "debug-exit").has_value();
  const std::string_view panic = command_line_option(command_line, "panic").value_or("");
  if (panic == "reset") after_panic_ = AfterPanic::reset;
  if (panic == "halt") after_panic_ = AfterPanic::halt;
}

Result<void> Power::read(const AcpiTables& tables) {
  const TableBytes fadt = TRY(tables.find("FACP"));
  const AcpiPower power = TRY(AcpiPower::parse(fadt));
  reset_ = register_of(power.reset);
  reset_.bits = 8;  // whatever the table says: the specification allows no other
  reset_value_ = power.reset_value;
  const TableBytes dsdt = TRY(tables.at(power.dsdt, "DSDT"));
  button_.fixed = parse_fixed_button(fadt);
  if (power.reduced_hardware) button_.event_device = find_event_device(dsdt);
  off_ = TRY(find_soft_off(dsdt));
  knows_off_ = true;
  if (power.reduced_hardware) {
    sleep_control_ = register_of(power.sleep_control);
    sleep_control_.bits = 8;
    return {};
  }
  control_a_ = register_of(power.pm1a_control);
  control_b_ = register_of(power.pm1b_control);
  control_a_.bits = control_b_.bits = 16;
  command_port_ = power.command_port;
  enable_value_ = power.enable_value;
  return {};
}

// ACPI 6.5, 4.8.2.5.
void Power::enable_acpi() {
  constexpr std::uint16_t enabled = 1;
  if (command_port_ == 0 || enable_value_ == 0 || control_a_.space == Register::Space::none) return;
  if ((control_a_.read() & enabled) != 0) return;
  arch::write_port_8(command_port_, enable_value_);
  for (int tries = 0; tries < 50'000 && (control_a_.read() & enabled) == 0; ++tries) arch::pause();
}

void Power::try_to_switch_off() {
  if (!knows_off_) return;
  if (sleep_control_.space != Register::Space::none) {
    sleep_control_.write(sleep_control_off_value(off_.a));
  } else if (control_a_.space != Register::Space::none) {
    enable_acpi();
    // The other bits of the register keep their values.
    constexpr std::uint16_t kept = static_cast<std::uint16_t>(~pm1_off_value(7));
    control_a_.write(static_cast<std::uint16_t>((control_a_.read() & kept) | pm1_off_value(off_.a)));
    if (control_b_.space != Register::Space::none) {
      control_b_.write(static_cast<std::uint16_t>((control_b_.read() & kept) | pm1_off_value(off_.b)));
    }
  }
  wait_for_the_end();
}

void Power::try_to_reset() {
  if (reset_.space != Register::Space::none) {
    reset_.write(reset_value_);
    wait_for_the_end();
  }
  arch::write_port_8(reset_control_port, 0x02);  // a reset of the whole machine is prepared
  arch::write_port_8(reset_control_port, 0x06);  // and done
  wait_for_the_end();
  constexpr std::uint8_t is_busy = 2, pulse_reset_line = 0xfe;
  for (int tries = 0; tries < 10'000 && (arch::read_port_8(keyboard_command_port) & is_busy) != 0; ++tries) {
    arch::pause();
  }
  arch::write_port_8(keyboard_command_port, pulse_reset_line);
  wait_for_the_end();
}

void Power::restart(Log& log) {
  arch::disable_interrupts();
  try_to_reset();
  log.warning("power: expected a reset, found the machine running: a triple fault shall end it");
  arch::triple_fault();
}

void Power::stop(Outcome outcome, Log& log) {
  arch::disable_interrupts();
  // isa-debug-exit ends QEMU with twice the value plus one: 33 and 35.
  if (exits_emulator_) arch::write_port_32(debug_exit_port, outcome == Outcome::success ? 16 : 17);
  if (outcome == Outcome::panic && after_panic_ == AfterPanic::reset) restart(log);
  if (outcome == Outcome::panic && after_panic_ == AfterPanic::halt) arch::halt_forever();
  try_to_switch_off();
  log.warning("power: expected to be off, found the machine running: halted");
  arch::halt_forever();
}

}  // namespace ingot::os
