// Where a machine says that virtio-mmio devices are: on the kernel's command line, as Firecracker does and QEMU's
// microvm without ACPI; or nowhere, as that one with ACPI, whose windows are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "os/device/acpi_bytes.h"
#include "os/memory/address.h"

namespace ingot::os {

struct VirtioPlace {
  PhysicalAddress begin;
  std::uint32_t bytes = 0;
  std::uint32_t line = 0;  // of the whole machine; below 16, as the bus of old PCs numbers them

  bool operator==(const VirtioPlace&) const = default;
};

// The words virtio_mmio.device=SIZE@ADDRESS:LINE of a command line, one after the other. Those behind a word `--` count
// as well: emulators add theirs at the end.
class VirtioPlaceWords {
 public:
  explicit VirtioPlaceWords(std::string_view command_line) : rest_(command_line) {}

  // Nothing behind the last; an error for one that cannot be read, behind which one can go on.
  Result<std::optional<VirtioPlace>> next();

 private:
  std::string_view rest_;
};

// The windows of QEMU's microvm with ACPI: they are named only in bytecode, which is not run here.
inline constexpr std::uint32_t microvm_window_count = 24;
constexpr VirtioPlace microvm_window(std::uint32_t index) {
  return {PhysicalAddress(0xfeb00000) + index * std::uint64_t{0x200}, 0x200, 24 + index};
}
// Whether these are firmware's tables of such a machine: nobody else may be read at those addresses. `fadt` may be
// empty.
bool is_microvm(TableBytes fadt);

}  // namespace ingot::os
