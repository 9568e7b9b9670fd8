#include "os/device/pci/pci_subsystem.h"

#include "base/image/grant_note.h"
#include "os/boot/kernel.h"
#include "os/device/pci/pci_bus.h"

namespace ingot::os {

namespace {

constexpr std::string_view right = "pci";
alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced(right);

Result<void> start(Kernel& kernel) {
  Owned<PciBus> bus = TRY(make_owned<PciBus>(kernel.memory->heap(), kernel.memory->heap()));
  TRY(bus->start(kernel.acpi.table_or_nothing("MCFG"), *kernel.memory));
  if (bus->configuration() == nullptr) return {};
  for (const auto& [address, header] : bus->functions()) {
    kernel.log.debug("pci ", address.bus, ":", address.device, ".", address.function, " ", Hexadecimal{header.vendor},
                     ":", Hexadecimal{header.device}, ", class ", Hexadecimal{header.base_class}, ".",
                     Hexadecimal{header.sub_class});
  }
  kernel.log.information("pci: ", bus->functions().size(), " functions, by ", bus->way());
  constexpr std::uint32_t major = 10, minor = 240;  // among Linux's small devices, where numbers are anybody's
  if (!kernel.program_devices.add({right, bus.get(), make_device_number(major, minor)})) {
    return Error::of(ErrorCode::out_of_range, "expected room for one more device of programs, found none");
  }
  kernel.pci = bus.release();
  return {};
}

}  // namespace

constinit const Subsystem pci_subsystem{"pci", start};

}  // namespace ingot::os
