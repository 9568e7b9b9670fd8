#include "os/device/virtio/virtio_subsystem.h"

#include "os/boot/kernel.h"
#include "os/device/pci/pci_bus.h"
#include "os/device/virtio/network/virtio_network_driver.h"
#include "os/device/virtio/random/virtio_random.h"
#include "os/device/virtio/virtio_mmio.h"
#include "os/device/virtio/virtio_pci.h"
#include "os/device/virtio/virtio_places.h"

namespace ingot::os {

namespace {

constexpr VirtioDriver drivers[] = {virtio_network_driver, virtio_random_driver};

const VirtioDriver* driver_of(std::uint16_t kind) {
  for (const VirtioDriver& driver : drivers) {
    if (driver.kind == kind) return &driver;
  }
  return nullptr;
}

// A device and its mapped registers.
struct MappedVirtioPci {
  MappedVirtioPci(const PciDevice& function, std::uint32_t doorbell_step)
      : device(function, parts[VirtioPciParts::common], parts[VirtioPciParts::doorbells],
               parts[VirtioPciParts::configuration], doorbell_step) {}

  std::array<MappedVirtioRegisters, VirtioPciParts::part_count> parts;
  VirtioPci device;
};
struct MappedVirtioMmio {
  MappedVirtioMmio(VirtualAddress begin, std::uint32_t bytes, const InterruptLine& line)
      : registers(begin, VirtioMmio::register_bytes),
        configuration(begin + VirtioMmio::register_bytes, bytes - VirtioMmio::register_bytes),
        device(registers, configuration, line) {}

  MappedVirtioRegisters registers, configuration;
  VirtioMmio device;
};

Result<MappedVirtioRegisters> map_part(const PciDevice& device, const VirtioPciParts::Range& range,
                                       KernelMemory& memory) {
  if (range.bytes == 0) return MappedVirtioRegisters();
  const PciDevice::Mapped bar = TRY(device.map(range.bar, memory));
  if (range.offset <= bar.bytes && range.bytes <= bar.bytes - range.offset) {
    return MappedVirtioRegisters(bar.begin + range.offset, range.bytes);
  }
  return Error::of(ErrorCode::corrupt, "expected virtio's registers inside the ", bar.bytes, " bytes of BAR ",
                   range.bar, ", found ", range.bytes, " at ", range.offset);
}

Result<void> create_on_pci(Kernel& kernel, const PciDevice& function) {
  const VirtioPciParts parts = TRY(VirtioPciParts::read(*kernel.pci->configuration(), function.address()));
  function.enable();
  auto mapped = TRY(make_owned<MappedVirtioPci>(kernel.memory->heap(), function, parts.doorbell_step));
  for (std::size_t part = 0; part < parts.ranges.size(); ++part) {
    mapped->parts[part] = TRY(map_part(function, parts.ranges[part], *kernel.memory));
  }
  // From here on interrupts may point at it: it stays, whatever comes of it.
  return driver_of(*virtio_kind_of(function.header()))->create(kernel, mapped.release()->device);
}

constexpr PciDriver pci_drivers[] = {
    {drivers[0].name, PciMatch::virtio(drivers[0].kind), create_on_pci},
    {drivers[1].name, PciMatch::virtio(drivers[1].kind), create_on_pci},
};
static_assert(std::size(pci_drivers) == std::size(drivers));

Result<void> create_in_memory(Kernel& kernel, VirtualAddress begin, std::uint32_t bytes, const InterruptLine& line) {
  const VirtioDriver* driver =
      driver_of(TRY(VirtioMmio::kind_at(MappedVirtioRegisters(begin, VirtioMmio::register_bytes))));
  if (driver == nullptr) return {};
  auto mapped = TRY(make_owned<MappedVirtioMmio>(kernel.memory->heap(), begin, bytes, line));
  return driver->create(kernel, mapped.release()->device);  // as above
}

void tell(Kernel& kernel, const VirtioPlace& place, const Result<void>& created) {
  if (!created.ok()) kernel.log.warning("virtio at ", place.begin, ": ", created.error());
}

// What the command line names: a line whose edges count, as the bus of old PCs has them.
Result<void> create_named(Kernel& kernel, const VirtioPlace& place) {
  InterruptLine line{place.line};
  if (place.line < 16) line = kernel.controller().isa_line(static_cast<std::uint8_t>(place.line));
  const VirtualAddress begin = TRY(kernel.memory->map_device(place.begin, place.bytes, CacheMode::uncached));
  return create_in_memory(kernel, begin, place.bytes, line);
}

Result<void> start_on_microvm(Kernel& kernel) {
  constexpr VirtioPlace first = microvm_window(0);
  constexpr std::uint64_t bytes = std::uint64_t{first.bytes} * microvm_window_count;
  const VirtualAddress begin = TRY(kernel.memory->map_device(first.begin, bytes, CacheMode::uncached));
  for (std::uint32_t index = 0; index < microvm_window_count; ++index) {
    const VirtioPlace place = microvm_window(index);
    const InterruptLine line{place.line, Polarity::active_high, Trigger::level};
    tell(kernel, place, create_in_memory(kernel, begin + (place.begin - first.begin), place.bytes, line));
  }
  return {};
}

Result<void> start(Kernel& kernel) {
  if (kernel.pci != nullptr) kernel.pci->start_drivers(kernel, pci_drivers);
  if (is_microvm(kernel.acpi.table_or_nothing("FACP"))) return start_on_microvm(kernel);
  VirtioPlaceWords words(kernel.boot_info.command_line.view());
  while (true) {
    const Result<std::optional<VirtioPlace>> place = words.next();
    if (!place.ok()) {
      kernel.log.warning("virtio: ", place.error());
    } else if (!place.value()) {
      return {};
    } else {
      tell(kernel, *place.value(), create_named(kernel, *place.value()));
    }
  }
}

}  // namespace

constinit const Subsystem virtio_subsystem{"virtio", start};

}  // namespace ingot::os
