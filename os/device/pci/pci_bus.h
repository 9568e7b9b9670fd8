// PciBus: the machine's PCI functions, looked for once, at boot. Drivers are found for them by tables; a program that
// is granted `pci` reads what there is from /dev/pci, a line a function as `lspci -n` prints it.
#pragma once

#include <optional>
#include <span>

#include "os/device/pci/pci_access.h"
#include "os/device/pci/pci_driver.h"
#include "os/device/pci/pci_function_list.h"
#include "os/device/pci/pci_places.h"
#include "os/file/synthetic/dev_directory.h"

namespace ingot::os {

class PciBus final : public DeviceOpener {
 public:
  explicit PciBus(Allocator& heap) : heap_(heap) {}
  PciBus(const PciBus&) = delete;  // devices point here
  PciBus& operator=(const PciBus&) = delete;

  // Looks for functions, through the window that the MCFG names (none: an empty table) or else through ports.
  Result<void> start(TableBytes windows, KernelMemory& memory);
  // Looks there, where no table names a window and no firmware gave devices their places: if the first device is that
  // bridge, devices get them from `room`. Whether it is.
  struct Bridge {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
  };
  Result<bool> start_at(const PciWindow& window, Bridge bridge, PciMemoryWindow room, KernelMemory& memory);
  // Where there is no PCI, none.
  std::span<const PciFunction> functions() const { return functions_.view(); }
  PciConfiguration* configuration() { return configuration_; }
  std::string_view way() const { return memory_ ? "memory" : "ports"; }

  // Shows every function to the table, once. How many of them a driver serves; one that fails is told in the log.
  std::size_t start_drivers(Kernel& kernel, std::span<const PciDriver> table);

  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override;

 private:
  Allocator& heap_;
  std::optional<PciMemory> memory_;
  std::optional<PciPorts> ports_;
  PciConfiguration* configuration_ = nullptr;
  PciFunctionList functions_;
};

}  // namespace ingot::os
