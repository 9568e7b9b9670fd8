// A device whose messages lie in a table of its memory (MSI-X) interrupts by several of them, each on its own CPU: a
// network card that is told to pretend causes.
//
// boot-test: success
// boot-test: machine q35
// boot-test: processors 2
// boot-test: device e1000e
// boot-test: expect msi-x: message 0 on CPU 1
// boot-test: expect msi-x: message 1 on CPU 0
// boot-test: expect msi-x: message 2 on CPU 1
#include "base/atomic.h"
#include "os/boot/kernel.h"
#include "os/device/pci/pci_bus.h"
#include "os/device/pci/pci_subsystem.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t message_count = 3, nobody = 99;

// Which CPU a message came to.
struct Arrival {
  Atomic<std::uint32_t> cpu{nobody};
};

void on_interrupt(void* context, arch::TrapFrame&) {
  static_cast<Arrival*>(context)->cpu.store(current_processor().index, MemoryOrder::relaxed);
}

Result<void> prove(Kernel& kernel, const PciDevice& device) {
  device.enable();
  MappedRegisters registers(TRY(device.map(0, *kernel.memory)).begin);
  if (device.message_count() < message_count) panic("expected three messages, found ", device.message_count());
  Arrival arrivals[message_count];
  PciDevice::MessageTarget targets[message_count];
  std::uint8_t vectors[message_count] = {};
  for (std::uint32_t message = 0; message < message_count; ++message) {
    targets[message] = {{on_interrupt, &arrivals[message]}, (message + 1) % 2};
  }
  TRY(device.connect_messages({kernel.controller(), kernel.interrupts, *kernel.memory}, targets, vectors));
  // Which message tells of which cause, four bits each, the highest for "yes": what came, what was sent, the rest.
  constexpr std::uint32_t cause_set = 0xc8, causes_allowed = 0xd0, messages_of_causes = 0xe4;
  constexpr std::uint32_t received = 1u << 20, sent = 1u << 22, other = 1u << 24, link_changed = 1u << 2;
  constexpr std::uint32_t causes[message_count] = {received, sent, other | link_changed};
  registers.write(messages_of_causes, 8u | 9u << 8 | 10u << 16);
  registers.write(causes_allowed, received | sent | other | link_changed);
  for (std::uint32_t message = 0; message < message_count; ++message) {
    registers.write(cause_set, causes[message]);
    const Nanoseconds begin = kernel.now();
    while (arrivals[message].cpu.load(MemoryOrder::relaxed) == nobody) {
      if ((kernel.now() - begin).count() > 20'000'000'000) panic("expected message ", message, ", found none");
      arch::pause();
    }
    kernel.log.information("msi-x: message ", message, " on CPU ", arrivals[message].cpu.load(MemoryOrder::relaxed));
  }
  // Every message starts a timer that holds back the next for 128 us, and QEMU ends itself when one fires without
  // MSI-X.
  const Nanoseconds last = kernel.now();
  while ((kernel.now() - last).count() < 100'000'000) arch::pause();
  device.disconnect_messages(kernel.interrupts, vectors);
  return {};
}

constexpr PciDriver drivers[] = {{"network card", PciMatch::identity(0x8086, 0x10d3), prove}};

}  // namespace

constinit const Subsystem* const linked_subsystems[] = {&pci_subsystem, nullptr};

void run_payload(Kernel& kernel) {
  if (kernel.pci->start_drivers(kernel, drivers) != 1) panic("expected a network card, found none that works");
}

}  // namespace ingot::os
