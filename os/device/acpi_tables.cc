#include "os/device/acpi_tables.h"

namespace ingot::os {
namespace {

constexpr std::string_view root_signature = "RSD PTR ";
constexpr std::size_t first_root_bytes = 20;  // ACPI 1.0
constexpr std::size_t root_bytes = 36;
constexpr std::size_t most_root_bytes = 4096;

bool starts_with(TableBytes bytes, std::string_view text) {
  if (bytes.size() < text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::to_integer<char>(bytes[i]) != text[i]) return false;
  }
  return true;
}

bool sums_to_zero(TableBytes bytes) {
  unsigned sum = 0;
  for (std::byte byte : bytes) sum += std::to_integer<unsigned>(byte);
  return (sum & 0xff) == 0;
}

Error checksum_error(std::string_view what, PhysicalAddress address) {
  return Error::of(ErrorCode::corrupt, "expected the bytes of ", what, " at ", address,
                   " to sum to 0, found another sum");
}

Result<TableBytes> table_at(const PhysicalReader& reader, PhysicalAddress address, std::string_view signature) {
  const TableBytes header = TRY(reader.bytes(address, AcpiTables::header_bytes));
  if (!starts_with(header, signature)) {
    return Error::of(ErrorCode::not_found, "expected the ACPI table ", signature, " at ", address, ", found another");
  }
  const auto length = number_inside<std::uint32_t>(header, 4);
  if (length < AcpiTables::header_bytes || length > AcpiTables::most_table_bytes) {
    return Error::of(ErrorCode::corrupt, "expected a length of ", AcpiTables::header_bytes, " to ",
                     AcpiTables::most_table_bytes, " of the ACPI table ", signature, ", found ", length);
  }
  const TableBytes table = TRY(reader.bytes(address, length));
  if (!sums_to_zero(table)) return checksum_error(signature, address);
  return table;
}

Result<PhysicalAddress> find_root_within(const PhysicalReader& reader, PhysicalAddress begin, std::uint64_t bytes) {
  const TableBytes area = TRY(reader.bytes(begin, bytes));
  for (std::size_t offset = 0; offset + first_root_bytes <= area.size(); offset += 16) {
    const TableBytes candidate = area.subspan(offset, first_root_bytes);
    if (starts_with(candidate, root_signature) && sums_to_zero(candidate)) return begin + offset;
  }
  return Error::of(ErrorCode::not_found, "expected an ACPI root pointer from ", begin, " on, found none");
}

}  // namespace

Result<PhysicalAddress> AcpiTables::find_root(const PhysicalReader& reader) {
  // The word at 0x40e is the extended BIOS data area's segment; its first KiB may hold the pointer.
  const TableBytes word = TRY(reader.bytes(PhysicalAddress(0x40e), 2));
  const PhysicalAddress extended(std::uint64_t{number_inside<std::uint16_t>(word, 0)} << 4);
  if (extended.value() >= 0x80000) {
    Result<PhysicalAddress> found = find_root_within(reader, extended, 1024);
    if (found.ok()) return found;
  }
  return find_root_within(reader, PhysicalAddress(0xe0000), 0x20000);
}

Result<AcpiTables> AcpiTables::create(const PhysicalReader& reader, PhysicalAddress root) {
  const TableBytes first = TRY(reader.bytes(root, first_root_bytes));
  if (!starts_with(first, root_signature)) {
    return Error::of(ErrorCode::corrupt, "expected an ACPI root pointer at ", root, ", found other bytes");
  }
  if (!sums_to_zero(first)) return checksum_error("the ACPI root pointer", root);
  const auto revision = number_inside<std::uint8_t>(first, 15);
  if (revision >= 2) {
    const TableBytes whole = TRY(reader.bytes(root, root_bytes));
    const auto length = number_inside<std::uint32_t>(whole, 20);
    if (length < root_bytes || length > most_root_bytes) {
      return Error::of(ErrorCode::corrupt, "expected an ACPI root pointer of ", root_bytes, " to ", most_root_bytes,
                       " bytes, found ", length);
    }
    const TableBytes checked = TRY(reader.bytes(root, length));
    if (!sums_to_zero(checked)) return checksum_error("the ACPI root pointer", root);
    const PhysicalAddress list(number_inside<std::uint64_t>(whole, 24));
    if (list.value() != 0) return AcpiTables(reader, TRY(table_at(reader, list, "XSDT")), 8);
  }
  const PhysicalAddress list(number_inside<std::uint32_t>(first, 16));
  return AcpiTables(reader, TRY(table_at(reader, list, "RSDT")), 4);
}

Result<TableBytes> AcpiTables::find(std::string_view signature) const {
  for (std::size_t i = 0; i < count(); ++i) {
    const std::size_t offset = header_bytes + i * entry_bytes_;
    const PhysicalAddress address(entry_bytes_ == 8 ? number_inside<std::uint64_t>(list_, offset)
                                                    : number_inside<std::uint32_t>(list_, offset));
    // One entry that points nowhere does not take the others away.
    const Result<TableBytes> header = reader_->bytes(address, header_bytes);
    if (!header.ok() || !starts_with(header.value(), signature)) continue;
    return table_at(*reader_, address, signature);
  }
  return Error::of(ErrorCode::not_found, "expected an ACPI table ", signature, ", found none among ", count());
}

Result<TableBytes> AcpiTables::at(PhysicalAddress address, std::string_view signature) const {
  return table_at(*reader_, address, signature);
}

}  // namespace ingot::os
