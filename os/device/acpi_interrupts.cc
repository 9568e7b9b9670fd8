#include "os/device/acpi_interrupts.h"

namespace ingot::os {
namespace {

constexpr std::size_t first_entry = 44;

enum EntryType : std::uint8_t {
  local_apic = 0,
  io_apic = 1,
  interrupt_override = 2,
  local_apic_address = 5,
  local_x2apic = 9,
};

// How long an entry must be for its fields to be there; 0: a type that is not read.
constexpr std::size_t least_bytes(std::uint8_t type) {
  switch (type) {
    case local_apic: return 8;
    case io_apic: return 12;
    case interrupt_override: return 10;
    case local_apic_address: return 12;
    case local_x2apic: return 16;
    default: return 0;
  }
}

void add_processor(AcpiInterrupts& interrupts, std::uint32_t firmware_id, std::uint32_t apic_id, std::uint32_t flags) {
  const bool enabled = (flags & 1) != 0;
  const bool can_be_enabled = !enabled && (flags & 2) != 0;
  if (!enabled && !can_be_enabled) return;  // an empty slot
  // Firmware may list one CPU both ways (an entry of each type); the first counts.
  for (const AcpiProcessor& known : interrupts.processors.all()) {
    if (known.apic_id == apic_id) return;
  }
  if (!interrupts.processors.add({firmware_id, apic_id, enabled, can_be_enabled})) ++interrupts.processors_left_out;
}

AcpiInterruptOverride override_of(TableBytes entry) {
  const auto flags = number_inside<std::uint16_t>(entry, 8);
  AcpiInterruptOverride override;
  override.isa_interrupt = number_inside<std::uint8_t>(entry, 3);
  override.global_interrupt = number_inside<std::uint32_t>(entry, 4);
  if ((flags & 3) == 1) override.polarity = Polarity::active_high;
  if ((flags & 3) == 3) override.polarity = Polarity::active_low;
  if ((flags >> 2 & 3) == 1) override.trigger = Trigger::edge;
  if ((flags >> 2 & 3) == 3) override.trigger = Trigger::level;
  return override;
}

Result<void> too_many(std::string_view what) {
  return Error::of(ErrorCode::unsupported, "expected at most 16 ", what, " in the MADT, found more");
}

Result<void> read_entry(TableBytes entry, std::uint8_t type, AcpiInterrupts& interrupts) {
  switch (type) {
    case local_apic: {
      const auto id = number_inside<std::uint8_t>(entry, 3);
      add_processor(interrupts, number_inside<std::uint8_t>(entry, 2), id, number_inside<std::uint32_t>(entry, 4));
      return {};
    }
    case local_x2apic: {
      const auto id = number_inside<std::uint32_t>(entry, 4);
      add_processor(interrupts, number_inside<std::uint32_t>(entry, 12), id, number_inside<std::uint32_t>(entry, 8));
      return {};
    }
    case io_apic: {
      const AcpiIoApic found{number_inside<std::uint8_t>(entry, 2),
                             PhysicalAddress(number_inside<std::uint32_t>(entry, 4)),
                             number_inside<std::uint32_t>(entry, 8)};
      return interrupts.io_apics.add(found) ? Result<void>() : too_many("I/O APICs");
    }
    case interrupt_override:
      return interrupts.overrides.add(override_of(entry)) ? Result<void>() : too_many("interrupt overrides");
    case local_apic_address: interrupts.local_apic = PhysicalAddress(number_inside<std::uint64_t>(entry, 4)); return {};
    default: return {};
  }
}

}  // namespace

Result<void> AcpiInterrupts::parse(TableBytes table, AcpiInterrupts& interrupts) {
  interrupts = {};
  interrupts.local_apic = PhysicalAddress(TRY(number_at<std::uint32_t>(table, 36)));
  interrupts.has_legacy_pics = (TRY(number_at<std::uint32_t>(table, 40)) & 1) != 0;
  std::size_t offset = first_entry;
  while (offset < table.size()) {
    const auto type = TRY(number_at<std::uint8_t>(table, offset));
    const auto length = TRY(number_at<std::uint8_t>(table, offset + 1));
    if (length < 2 || length > table.size() - offset || length < least_bytes(type)) {
      return Error::of(ErrorCode::corrupt, "expected a MADT entry that fits its type and the table, found type ", type,
                       " with ", length, " bytes at ", offset, " of ", table.size());
    }
    TRY(read_entry(table.subspan(offset, length), type, interrupts));
    offset += length;
  }
  return {};
}

}  // namespace ingot::os
