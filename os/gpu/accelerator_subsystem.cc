#include "os/gpu/accelerator_subsystem.h"

#include <algorithm>

#include "base/image/grant_note.h"
#include "os/boot/kernel.h"
#include "os/device/pci/pci_bus.h"
#include "os/device/pci/pci_subsystem.h"
#include "os/device/virtio/virtio_places.h"
#include "os/gpu/accelerator_file.h"
#include "os/gpu/ivshmem.h"
#include "os/process/launch.h"

namespace ingot::os {

namespace {

constexpr std::string_view right = "accelerator";
alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced(right);

// What the device's interrupts and the machine's memory are for the accelerator. It stays as long as the machine runs.
class KernelAccelerator final : private AcceleratorMachine {
 public:
  KernelAccelerator(Kernel& kernel, VirtualAddress registers, const PciDevice::Mapped& shared, PhysicalAddress at)
      : kernel_(kernel),
        registers_(registers),
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the page table gave a meaning
        accelerator_(accelerator::SharedWords(reinterpret_cast<std::byte*>(shared.begin.value())),
                     {kernel.memory->heap(), kernel.memory->frames(), kernel.memory->window()}, *this),
        device_(accelerator_, bell_, *this, at, kernel.memory->heap()) {}

  Result<void> start(const PciDevice& device) {
    if (Ivshmem(registers_).own_number() < 0) {
      return Error::of(ErrorCode::not_found, "expected a device that its server has given a number, found none");
    }
    // Answers, and what is told of faults and of the worker's end: whoever waits looks at both.
    const PciDevice::MessageTarget targets[] = {{{on_interrupt, this}, 0}, {{on_interrupt, this}, 0}};
    std::uint8_t vectors[std::size(targets)] = {};
    TRY(device.connect_messages({kernel_.controller(), kernel_.interrupts, *kernel_.memory}, targets, vectors));
    const Result<void> started = accelerator_.start(kernel_.boot_info.memory.ranges());
    if (!started.ok()) device.disconnect_messages(kernel_.interrupts, vectors);
    return started;
  }
  const Accelerator& accelerator() const { return accelerator_; }
  DeviceOpener& opener() { return device_; }

 private:
  static void on_interrupt(void* context, arch::TrapFrame&) {
    auto& it = *static_cast<KernelAccelerator*>(context);
    it.bell_.count.fetch_add(1, MemoryOrder::release);
    it.waiting_.wake_all();
    it.bell_.source.notify(poll_event::readable);
  }

  Nanoseconds now() override { return kernel_.now(); }
  void ring() override { Ivshmem(registers_).ring(0, 0); }
  std::uint64_t bells() override { return bell_.count.load(MemoryOrder::acquire); }
  void wait(std::uint64_t bells, Nanoseconds until) override {
    waiting_.wait_until([&] { return bell_.count.load(MemoryOrder::acquire) != bells; }, until);
  }
  std::uint64_t random() override { return kernel_.random.number(); }
  void retire(std::uint64_t frames) override {
    kernel_.log.warning("accelerator: ", frames, " frames stay its own: it is lost, and may still write there");
    kernel_.memory->cached_frames().shared().with([&](FrameAllocator& all) { all.retire(frames); });
  }

  Kernel& kernel_;
  MappedRegisters registers_;
  AcceleratorDevice::Bell bell_;
  WaitQueue waiting_;
  Accelerator accelerator_;
  AcceleratorDevice device_;
};

bool is_offered(Kernel& kernel) {
  return std::ranges::any_of(kernel.program_devices.all(),
                             [](const ProgramDevice& device) { return device.name == right; });
}

Result<void> create(Kernel& kernel, const PciDevice& function) {
  if (is_offered(kernel)) return Error::of(ErrorCode::unsupported, "expected one accelerator, found a second one");
  function.enable();
  const PciDevice::Mapped registers = TRY(function.map(Ivshmem::register_bar, *kernel.memory));
  const std::optional<PciBar> bar =
      TRY(probe_pci_bar(*kernel.pci->configuration(), function.address(), function.header(), Ivshmem::memory_bar));
  if (!bar || bar->bytes < accelerator::shared_bytes) {
    return Error::of(ErrorCode::unsupported, "expected ", accelerator::shared_bytes, " bytes of shared memory, found ",
                     bar ? bar->bytes : 0);
  }
  const PciDevice::Mapped shared = TRY(function.map(Ivshmem::memory_bar, *kernel.memory, CacheMode::write_back));
  Owned<KernelAccelerator> owned = TRY(make_owned<KernelAccelerator>(kernel.memory->heap(), kernel, registers.begin,
                                                                     shared, PhysicalAddress(bar->address)));
  TRY(owned->start(function));
  KernelAccelerator& accelerator = *owned.release();  // from here on interrupts point at it
  constexpr std::uint32_t major = 10, minor = 241;    // next to the bus of PCI
  if (!kernel.program_devices.add({right, &accelerator.opener(), make_device_number(major, minor)})) {
    return Error::of(ErrorCode::out_of_range, "expected room for one more device of programs, found none");
  }
  kernel.log.information("accelerator: sees ", accelerator.accelerator().located_bytes() >> 10, " KiB");
  return {};
}

constexpr PciDriver drivers[] = {{"accelerator", PciMatch::identity(Ivshmem::vendor, Ivshmem::device), create}};

// Without a device nothing is offered: then the grant ends the boot.
Result<void> start(Kernel& kernel) {
  if (!kernel.boot_info.image()) return {};
  const Manifest manifest = TRY(manifest_of(kernel));
  if (!manifest.grants(right)) return {};
  if (is_microvm(kernel.acpi.table_or_nothing("FACP"))) TRY(start_pci_on_microvm(kernel));
  if (kernel.pci != nullptr) kernel.pci->start_drivers(kernel, drivers);
  return {};
}

}  // namespace

constinit const Subsystem accelerator_subsystem{"accelerator", start};

}  // namespace ingot::os
