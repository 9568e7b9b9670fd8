// VirtioDevice: a virtio 1.x device, whatever way leads to it (VirtioPci, VirtioMmio). A driver starts it in this
// order:
//
//   features = TRY(device.begin(choose));                   reset, and agreed on
//   TRY(device.connect(services, targets, configuration));  who hears of its interrupts
//   TRY(device.enable_queue(0, memory, interrupt));         for each queue
//   device.go();                                            from now on it uses the queues
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/device/pci/pci_device.h"
#include "os/device/virtio/virtio_queue_memory.h"
#include "os/device/virtio/virtio_registers.h"

namespace ingot::os {

// Bits that every kind of device may offer (virtio 1.2, chapter 6).
inline constexpr std::uint64_t virtio_event_index = std::uint64_t{1} << 29, virtio_version_1 = std::uint64_t{1} << 32;

// The registers that all ways have, each at its own places.
struct VirtioLayout {
  struct Field {
    std::uint16_t offset = 0, bytes = 4;
  };
  Field offered_selector, offered, accepted_selector, accepted, status, generation;
  Field queue_selector, queue_capacity, queue_entries, queue_enabled;
  Field queue_descriptors, queue_available, queue_used;  // the lower halves of addresses
};

class VirtioDevice {
 public:
  using InterruptTarget = PciDevice::MessageTarget;
  using InterruptServices = PciDevice::MessageServices;
  static constexpr std::size_t most_interrupts = 16;

  // Resets it, and agrees on those of the offered features that are chosen; version_1 is among them, or it fails.
  Result<std::uint64_t> begin(std::uint64_t (*choose)(std::uint64_t offered));
  void go();
  // It uses no queue any more: for a device that broke the rules, or whose driver gives up.
  void stop() { static_cast<void>(reset()); }

  // How many interrupts of queues it can tell apart, at most most_interrupts.
  virtual std::size_t interrupt_count() const = 0;
  // Precondition: between 1 and interrupt_count() targets. Each hears of its queues on its CPU; `configuration` is
  // called when the configuration has changed. Behind begin(): a reset forgets it.
  virtual Result<void> connect(const InterruptServices& services, std::span<const InterruptTarget> targets,
                               InterruptHandler configuration) = 0;

  // How many entries it takes at most, behind begin(); 0: there is no such queue.
  std::uint16_t queue_capacity(std::uint16_t queue);
  // `interrupt`: which of the targets is told of chains that it used.
  Result<void> enable_queue(std::uint16_t queue, VirtioQueueMemory& memory, std::uint16_t interrupt);

  // A field of the kind's own configuration; 0 where the device has none there.
  template <std::unsigned_integral Number>
  Number configuration(std::uint32_t offset) const {
    if (!configuration_.has(offset, sizeof(Number))) return 0;
    return static_cast<Number>(configuration_.read(offset, sizeof(Number)));
  }
  // `read_fields` is repeated until the configuration did not change meanwhile.
  template <class Read>
  Result<void> read_configuration(Read&& read_fields) const {
    for (int tries = 0; tries < 100; ++tries) {
      const std::uint32_t before = read(layout_.generation);
      read_fields();
      if (read(layout_.generation) == before) return {};
    }
    return Error::of(ErrorCode::corrupt, "expected a configuration that stays for a moment, found one that does not");
  }

 protected:
  VirtioDevice(VirtioRegisters& registers, const VirtioLayout& layout, const VirtioRegisters& configuration)
      : registers_(registers), layout_(layout), configuration_(configuration) {}
  ~VirtioDevice() = default;

  VirtioRegisters& registers() const { return registers_; }

 private:
  // Of the selected queue.
  virtual Result<VirtioDoorbell> connect_queue(std::uint16_t queue, std::uint16_t interrupt) = 0;

  std::uint32_t read(VirtioLayout::Field field) const { return registers_.read(field.offset, field.bytes); }
  void write(VirtioLayout::Field field, std::uint32_t value) { registers_.write(field.offset, field.bytes, value); }
  void write_address(VirtioLayout::Field field, PhysicalAddress address);
  Result<void> reset();

  VirtioRegisters& registers_;
  const VirtioLayout& layout_;
  const VirtioRegisters& configuration_;
};

}  // namespace ingot::os
