// Acpi: this machine's firmware tables, read through the window.
#pragma once

#include <optional>

#include "os/arch/platform.h"
#include "os/device/acpi_interrupts.h"
#include "os/device/acpi_tables.h"

namespace ingot::os {

class Acpi final : private PhysicalReader {
 public:
  Acpi() = default;
  Acpi(const Acpi&) = delete;  // the tables point here
  Acpi& operator=(const Acpi&) = delete;

  // `root` is where the loader saw the root pointer; without one, a BIOS's places are searched. An error leaves what
  // was read so far.
  Result<void> read(const arch::Platform& platform, std::optional<PhysicalAddress> root);

  // None: there is no ACPI here.
  const AcpiTables* tables() const { return tables_ ? &*tables_ : nullptr; }
  // Empty where there is no such table, or a damaged one.
  TableBytes table_or_nothing(std::string_view signature) const {
    if (!tables_) return {};
    const Result<TableBytes> found = tables_->find(signature);
    return found.ok() ? found.value() : TableBytes();
  }
  // None: nobody says how interrupts are wired.
  const AcpiInterrupts* interrupts() const { return has_interrupts_ ? &interrupts_ : nullptr; }

 private:
  Result<TableBytes> bytes(PhysicalAddress begin, std::uint64_t count) const override;

  const arch::Platform* platform_ = nullptr;
  std::optional<AcpiTables> tables_;
  AcpiInterrupts interrupts_;
  bool has_interrupts_ = false;
};

}  // namespace ingot::os
