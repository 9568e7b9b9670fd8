#include "os/device/acpi.h"

namespace ingot::os {

Result<void> Acpi::read(const arch::Platform& platform, std::optional<PhysicalAddress> root) {
  platform_ = &platform;
  if (!root) root = TRY(AcpiTables::find_root(*this));
  tables_ = TRY(AcpiTables::create(*this, *root));
  const TableBytes madt = TRY(tables_->find("APIC"));
  TRY(AcpiInterrupts::parse(madt, interrupts_));
  has_interrupts_ = true;
  return {};
}

// The window shows memory only, and a table may claim to lie anywhere: every page is looked up before it is read.
Result<TableBytes> Acpi::bytes(PhysicalAddress begin, std::uint64_t count) const {
  const PhysicalWindow window = platform_->window();
  bool readable = count != 0 && window.contains(begin) && count <= window.end() - begin;
  for (PhysicalAddress page = begin.rounded_down(page_bytes); readable && page < begin + count; page += page_bytes) {
    const VirtualAddress address(reinterpret_cast<std::uint64_t>(window.at<std::byte>(page)));
    readable = platform_->read_word(address).has_value();
  }
  if (readable) return TableBytes(window.at<const std::byte>(begin), count);
  return Error::of(ErrorCode::out_of_range, "expected ACPI tables in memory, found ", count, " bytes at ", begin);
}

}  // namespace ingot::os
