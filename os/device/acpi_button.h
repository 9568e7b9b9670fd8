// Where firmware says that the power button is: in the fixed registers of the FADT (ACPI 6.5, 4.8.2.2, 4.8.3.1), or, on
// a machine with reduced hardware, behind the event device of QEMU's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "os/device/acpi_bytes.h"
#include "os/device/acpi_interrupts.h"
#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

// Ports; 0: there is none.
struct FixedButton {
  std::uint16_t interrupt = 0;  // as the bus of old PCs numbers it
  std::array<std::uint16_t, 2> status_ports{}, enable_ports{};
  // Events that only bytecode understands: an interrupt of theirs would never end.
  struct GeneralEvents {
    std::uint16_t first_enable_port = 0;
    std::uint8_t count = 0;
  };
  std::array<GeneralEvents, 2> general_events{};

  // Unless the MADT says otherwise it may be shared: a level, and low.
  InterruptLine line(const AcpiInterrupts* interrupts, const InterruptController& controller) const;
};

// `table` is the checked FADT. Nothing where the machine has no such button, or keeps it anywhere but in ports.
std::optional<FixedButton> parse_fixed_button(TableBytes table);

struct EventDevice {
  PhysicalAddress selector;  // reading its word tells what happened, and forgets it
  InterruptLine line;

  static constexpr std::uint32_t power_button = 2;  // in that word
};

// Such a device is a program in the DSDT. QEMU's is known, and found by all its bytes but its addresses: any other is
// not understood, and not guessed at.
std::optional<EventDevice> find_event_device(TableBytes dsdt);

// Where it is; neither: nowhere that could be known.
struct ButtonPlace {
  std::optional<FixedButton> fixed;
  std::optional<EventDevice> event_device;
};

}  // namespace ingot::os
