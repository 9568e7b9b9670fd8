// Any bytes are ACPI tables or an error: as physical memory with its root at the front, and as each table on its own,
// because few inputs get past the checksums.
#include <cstdlib>
#include <vector>

#include "os/device/acpi_button.h"
#include "os/device/acpi_interrupts.h"
#include "os/device/acpi_platform.h"
#include "os/device/acpi_power.h"
#include "os/device/acpi_tables.h"

using namespace ingot;
using namespace ingot::os;

namespace {

class Memory : public PhysicalReader {
 public:
  explicit Memory(TableBytes bytes) : bytes_(bytes) {}
  Result<TableBytes> bytes(PhysicalAddress begin, std::uint64_t count) const override {
    if (begin.value() > bytes_.size() || count > bytes_.size() - begin.value()) {
      return Error::of(ErrorCode::out_of_range, "expected memory, found ", begin);
    }
    return bytes_.subspan(begin.value(), count);
  }

 private:
  TableBytes bytes_;
};

// Puts the sum of `count` bytes right by the byte at `checksum_at`, if they are there.
void mend(std::vector<std::byte>& bytes, std::size_t begin, std::size_t checksum_at, std::size_t count) {
  if (begin > bytes.size() || count > bytes.size() - begin || checksum_at >= count) return;
  unsigned sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::to_integer<unsigned>(bytes[begin + i]);
  bytes[begin + checksum_at] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[begin + checksum_at]) - sum);
}

void read_tables(const PhysicalReader& memory) {
  (void)AcpiTables::find_root(memory);
  const Result<AcpiTables> tables = AcpiTables::create(memory, PhysicalAddress(0));
  if (!tables.ok()) return tables.error().text().empty() ? std::abort() : void();
  for (const char* signature : {"APIC", "FACP", "MCFG", "HPET", "DSDT"}) (void)tables.value().find(signature);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const TableBytes bytes = std::as_bytes(std::span(data, size));
  read_tables(Memory(bytes));
  std::vector<std::byte> mended(bytes.begin(), bytes.end());
  mend(mended, 0, 8, 20);
  mend(mended, 0, 32, 36);
  if (size >= 68) mend(mended, 36, 9, number_inside<std::uint32_t>(mended, 40));
  read_tables(Memory(mended));

  AcpiInterrupts interrupts;
  if (AcpiInterrupts::parse(bytes, interrupts).ok() && interrupts.processors.size() > size / 8) std::abort();
  (void)AcpiPower::parse(bytes);
  (void)parse_fixed_button(bytes);
  (void)find_event_device(bytes);
  const Result<AcpiSleepType> off = find_soft_off(bytes);
  if (off.ok() && (off.value().a > 7 || off.value().b > 7)) std::abort();
  (void)parse_pci_windows(bytes);
  (void)parse_hpet(bytes);
  return 0;
}
