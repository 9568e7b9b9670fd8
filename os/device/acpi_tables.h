// AcpiTables: from the root pointer to a table by its name. Every length is bounded and every checksum checked before a
// byte is believed (ACPI 6.5, 5.2.5 to 5.2.8).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "os/device/acpi_bytes.h"

namespace ingot::os {

class AcpiTables {
 public:
  static constexpr std::size_t header_bytes = 36;
  static constexpr std::uint64_t most_table_bytes = 16u << 20;  // far above any real one; bounds the work on a lie

  // Where a BIOS leaves the root pointer when the loader did not say.
  static Result<PhysicalAddress> find_root(const PhysicalReader& reader);
  static Result<AcpiTables> create(const PhysicalReader& reader, PhysicalAddress root);

  // The first table with this signature, checked, its header included.
  Result<TableBytes> find(std::string_view signature) const;
  // The table at an address that another table names.
  Result<TableBytes> at(PhysicalAddress address, std::string_view signature) const;

  std::size_t count() const { return (list_.size() - header_bytes) / entry_bytes_; }

 private:
  AcpiTables(const PhysicalReader& reader, TableBytes list, std::size_t entry_bytes)
      : reader_(&reader), list_(list), entry_bytes_(entry_bytes) {}

  const PhysicalReader* reader_;
  TableBytes list_;          // the RSDT or XSDT
  std::size_t entry_bytes_;  // 4 or 8
};

}  // namespace ingot::os
