#include "os/device/acpi_button.h"

#include "os/device/acpi_tables.h"

namespace ingot::os {
namespace {

// Offsets in the FADT (table 5.9), and flags there.
namespace fixed_button {
constexpr std::size_t interrupt = 46, event_blocks[] = {56, 60}, event_bytes = 88, general_blocks[] = {80, 84},
                      general_bytes[] = {92, 93}, flags = 112;
constexpr std::uint32_t is_none = 1u << 4, hardware_is_reduced = 1u << 20;
}  // namespace fixed_button

using std::string_view_literals::operator""sv;

// Behind each part but the last come four bytes that are a machine's own.
//   _HID "ACPI0013", _UID "GED", _CRS { Interrupt (Edge, ActiveHigh, Exclusive) { <line> } }
//   OperationRegion (EREG, SystemMemory, <selector>, 4), Field (EREG, DWordAcc) { ESEL, 32 }
//   Method (_EVT, 1) { Local0 = ESEL; If ((Local0 & 2) == 2) { Notify (PWRB, 0x80) } }
constexpr std::string_view event_device_parts[] = {
    "\x08_HID\x0d"
    "ACPI0013\0\x08_UID\x0dGED\0\x08_CRS\x11\x0e\x0a\x0b\x89\x06\0\x03\x01"sv,
    "y\0[\x80"
    "EREG\0\x0c"sv,
    "\x0a\x04[\x81\x0b"
    "EREGCESEL \x14\x1d_EVT\x09pESEL`\xa0\x10\x93{`\x0a\x02\0\x0a\x02\x86PWRB\x0a\x80"sv,
};

std::uint16_t port_at(TableBytes table, std::size_t offset) {
  const auto port = number_or_zero<std::uint32_t>(table, offset);
  return port <= 0xff00 ? static_cast<std::uint16_t>(port) : 0;
}

bool holds_at(TableBytes bytes, std::size_t offset, std::string_view text) {
  if (offset > bytes.size() || text.size() > bytes.size() - offset) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::to_integer<char>(bytes[offset + i]) != text[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<FixedButton> parse_fixed_button(TableBytes table) {
  const auto flags = number_or_zero<std::uint32_t>(table, fixed_button::flags);
  const auto bytes = number_or_zero<std::uint8_t>(table, fixed_button::event_bytes);
  if ((flags & (fixed_button::is_none | fixed_button::hardware_is_reduced)) != 0 || bytes < 4) return std::nullopt;
  FixedButton button;
  button.interrupt = number_or_zero<std::uint16_t>(table, fixed_button::interrupt);
  for (std::size_t i = 0; i < 2; ++i) {
    button.status_ports[i] = port_at(table, fixed_button::event_blocks[i]);
    if (button.status_ports[i] == 0) continue;
    button.enable_ports[i] = static_cast<std::uint16_t>(button.status_ports[i] + bytes / 2);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint16_t events = port_at(table, fixed_button::general_blocks[i]);
    const auto half =
        static_cast<std::uint8_t>(number_or_zero<std::uint8_t>(table, fixed_button::general_bytes[i]) / 2);
    if (events != 0) button.general_events[i] = {static_cast<std::uint16_t>(events + half), half};
  }
  if (button.status_ports[0] == 0) return std::nullopt;
  return button;
}

InterruptLine FixedButton::line(const AcpiInterrupts* interrupts, const InterruptController& controller) const {
  constexpr std::uint16_t isa_lines = 16;
  bool is_overridden = interrupts == nullptr;  // by the two 8259s, which know nothing else
  if (interrupts != nullptr) {
    for (const AcpiInterruptOverride& each : interrupts->overrides.all()) {
      is_overridden = is_overridden || each.isa_interrupt == interrupt;
    }
  }
  if (is_overridden && interrupt < isa_lines) return controller.isa_line(static_cast<std::uint8_t>(interrupt));
  return {interrupt, Polarity::active_low, Trigger::level};
}

std::optional<EventDevice> find_event_device(TableBytes dsdt) {
  for (std::size_t begin = AcpiTables::header_bytes; begin < dsdt.size(); ++begin) {
    std::uint32_t found[2] = {};
    std::size_t at = begin;
    bool matches = true;
    for (std::size_t part = 0; part < 3 && matches; ++part) {
      matches = holds_at(dsdt, at, event_device_parts[part]);
      at += event_device_parts[part].size();
      if (part < 2) found[part] = number_or_zero<std::uint32_t>(dsdt, at);
      at += sizeof(std::uint32_t);
    }
    if (matches && found[1] % sizeof(std::uint32_t) == 0) {
      return EventDevice{PhysicalAddress(found[1]), {found[0], Polarity::active_high, Trigger::edge}};
    }
  }
  return std::nullopt;
}

}  // namespace ingot::os
