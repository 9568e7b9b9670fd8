// A device whose messages lie in a table of its memory (MSI-X) interrupts: a network card that is told to pretend a
// cause.
//
// boot-test: success
// boot-test: machine q35
// boot-test: device e1000e
// boot-test: expect msi-x: interrupted
#include "base/atomic.h"
#include "os/boot/kernel.h"
#include "os/device/pci_device.h"
#include "os/device/pci_message_interrupts.h"
#include "os/device/registers.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic(result.error());
  return std::move(result).value();
}

void on_interrupt(void* context, arch::TrapFrame&) {
  static_cast<Atomic<std::uint32_t>*>(context)->store(1, MemoryOrder::relaxed);
}

}  // namespace

void run_payload(Kernel& kernel) {
  PciConfiguration* pci = kernel.devices.pci();
  if (pci == nullptr) panic("expected PCI, found none");
  constexpr std::uint16_t intel = 0x8086, card = 0x10d3;
  const std::optional<PciDevice> device = PciDevice::find(*pci, intel, card);
  if (!device) panic("expected a network card, found none");
  if (!find_pci_capability(*pci, device->address(), MsiX::capability)) panic("expected MSI-X, found none");
  device->enable();
  MappedRegisters registers(require(device->map(0, *kernel.memory)).begin);
  Atomic<std::uint32_t> interrupted{0};
  const std::uint8_t vector = require(
      device->connect_message(kernel.controller(), kernel.interrupts, *kernel.memory, {on_interrupt, &interrupted}, 0));
  // Its causes other than packets go to message 0; one of them is allowed, then set by hand.
  constexpr std::uint32_t cause_set = 0xc8, causes_allowed = 0xd0, messages_of_causes = 0xe4;
  constexpr std::uint32_t other_cause = 1u << 24, link_changed = 1u << 2, other_is_message_0 = 1u << 19;
  registers.write(messages_of_causes, other_is_message_0);
  registers.write(causes_allowed, other_cause | link_changed);
  registers.write(cause_set, other_cause | link_changed);
  const Nanoseconds begin = kernel.now();
  while (interrupted.load(MemoryOrder::relaxed) == 0) {
    if ((kernel.now() - begin).count() > 20'000'000'000) panic("expected an interrupt, found none");
    arch::pause();
  }
  kernel.log.information("msi-x: interrupted");
  device->disconnect_message(kernel.interrupts, vector);
}

}  // namespace ingot::os
