#include "os/device/pci/pci_bus.h"

#include "os/boot/kernel.h"
#include "os/file/synthetic/text_file.h"

namespace ingot::os {

namespace {

// As `lspci -n`: place, class, vendor and device.
void write_functions(TextWriter& text, const TextSubject& subject) {
  for (const PciFunction& function : static_cast<PciBus*>(subject.object)->functions()) {
    const auto& [address, header] = function;
    const std::uint64_t kind = std::uint64_t{header.base_class} << 8 | header.sub_class;
    text.add(HexadecimalDigits{address.bus, 2}, ":", HexadecimalDigits{address.device, 2}, ".", address.function, " ",
             HexadecimalDigits{kind, 4}, ": ", HexadecimalDigits{header.vendor, 4}, ":",
             HexadecimalDigits{header.device, 4});
    if (header.revision != 0) text.add(" (rev ", HexadecimalDigits{header.revision, 2}, ")");
    text.add("\n");
  }
}

}  // namespace

Result<void> PciBus::start(TableBytes table, KernelMemory& memory) {
  if (!table.empty()) {
    const PciWindows windows = TRY(parse_pci_windows(table));
    if (windows.size() != 0) configuration_ = &memory_.emplace(windows[0], memory);
  }
  if (configuration_ == nullptr && PciPorts::present()) configuration_ = &ports_.emplace();
  if (configuration_ == nullptr) return {};
  functions_ = TRY(PciFunctionList::find(heap_, *configuration_));
  return {};
}

Result<bool> PciBus::start_at(const PciWindow& window, Bridge bridge, PciMemoryWindow room, KernelMemory& memory) {
  PciConfiguration& configuration = memory_.emplace(window, memory);
  const std::optional<PciHeader> first = read_pci_header(configuration, {window.segment, window.first_bus, 0, 0});
  if (!first || first->vendor != bridge.vendor || first->device != bridge.device) {
    memory_.reset();
    return false;
  }
  functions_ = TRY(PciFunctionList::find(heap_, configuration));
  for (const PciFunction& function : functions()) {
    TRY(place_pci_bars(configuration, function.address, function.header, room));
  }
  configuration_ = &configuration;
  return true;
}

std::size_t PciBus::start_drivers(Kernel& kernel, std::span<const PciDriver> table) {
  std::size_t served = 0;
  for (const PciFunction& function : functions()) {
    const auto& [address, header] = function;
    const PciDriver* driver = find_pci_driver(table, header);
    if (driver == nullptr) continue;
    const Result<void> created = driver->create(kernel, PciDevice(*configuration_, address, header));
    if (created.ok()) {
      ++served;
    } else {
      kernel.log.warning(driver->name, " at pci ", address.bus, ":", address.device, ".", address.function, ": ",
                         created.error());
    }
  }
  return served;
}

Answer<Reference<FileDescription>> PciBus::open(Node& node, std::uint32_t flags) {
  return open_text(node, heap_, flags, write_functions, {this});
}

}  // namespace ingot::os
