#include "os/device/pci/pci_access.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t pci_selector_port = 0xcf8, pci_data_port = 0xcfc;

bool ports_reach(PciAddress address, std::uint16_t offset) { return address.segment == 0 && offset < 256; }

}  // namespace

bool PciPorts::present() {
  const std::uint32_t before = arch::read_port_32(pci_selector_port), probe = PciAddress{}.port_selector(0);
  arch::write_port_32(pci_selector_port, probe);
  const bool kept = arch::read_port_32(pci_selector_port) == probe;
  arch::write_port_32(pci_selector_port, before);
  return kept;
}

std::uint32_t PciPorts::read(PciAddress address, std::uint16_t offset) {
  if (!ports_reach(address, offset)) return ~0u;
  return selector_.with([&](Selector&) {
    arch::write_port_32(pci_selector_port, address.port_selector(offset));
    return arch::read_port_32(pci_data_port);
  });
}

void PciPorts::write(PciAddress address, std::uint16_t offset, std::uint32_t value) {
  if (!ports_reach(address, offset)) return;
  selector_.with([&](Selector&) {
    arch::write_port_32(pci_selector_port, address.port_selector(offset));
    arch::write_port_32(pci_data_port, value);
  });
}

volatile std::uint32_t* PciMemory::at(PciAddress address, std::uint16_t offset) {
  if (address.segment != window_.segment || address.bus < window_.first_bus || address.bus > window_.last_bus ||
      offset >= page_bytes) {
    return nullptr;
  }
  constexpr std::uint64_t bus_bytes = std::uint64_t{1} << 20;
  const VirtualAddress base = buses_.with([&](Buses& buses) {
    VirtualAddress& bus = buses[address.bus];
    if (bus.value() == 0) {
      const PhysicalAddress begin = window_.address + address.bus * bus_bytes;
      const Result<VirtualAddress> mapped = memory_.map_device(begin, bus_bytes, CacheMode::uncached);
      if (mapped.ok()) bus = mapped.value();
    }
    return bus;
  });
  if (base.value() == 0) return nullptr;
  const std::uint64_t inside = address.window_offset() % bus_bytes + (offset & ~3u);
  return reinterpret_cast<volatile std::uint32_t*>((base + inside).value());
}

std::uint32_t PciMemory::read(PciAddress address, std::uint16_t offset) {
  const volatile std::uint32_t* place = at(address, offset);
  return place != nullptr ? *place : ~0u;
}

void PciMemory::write(PciAddress address, std::uint16_t offset, std::uint32_t value) {
  if (volatile std::uint32_t* place = at(address, offset)) *place = value;
}

}  // namespace ingot::os
