#include "os/device/pci/pci_subsystem.h"

#include "base/image/grant_note.h"
#include "os/boot/kernel.h"
#include "os/device/pci/pci_bus.h"

namespace ingot::os {

namespace {

constexpr std::string_view right = "pci";
alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced(right);

// Where the bus of QEMU's microvm is, and the memory that it hands on (include/hw/i386/microvm.h there).
constexpr PciWindow microvm_window{PhysicalAddress(0xe0000000), 0, 0, 255};
constexpr PciMemoryWindow microvm_room(PhysicalAddress(0xc0000000), 0x20000000);
constexpr PciBus::Bridge microvm_bridge{0x1b36, 0x0008};

Result<void> offer(Kernel& kernel, Owned<PciBus> bus) {
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

Result<void> start(Kernel& kernel) {
  Owned<PciBus> bus = TRY(make_owned<PciBus>(kernel.memory->heap(), kernel.memory->heap()));
  TRY(bus->start(kernel.acpi.table_or_nothing("MCFG"), *kernel.memory));
  if (bus->configuration() == nullptr) return {};
  return offer(kernel, std::move(bus));
}

}  // namespace

Result<void> start_pci_on_microvm(Kernel& kernel) {
  if (kernel.pci != nullptr) return {};
  Owned<PciBus> bus = TRY(make_owned<PciBus>(kernel.memory->heap(), kernel.memory->heap()));
  if (!TRY(bus->start_at(microvm_window, microvm_bridge, microvm_room, *kernel.memory))) return {};
  return offer(kernel, std::move(bus));
}

constinit const Subsystem pci_subsystem{"pci", start};

}  // namespace ingot::os
