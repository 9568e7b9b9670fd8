#include "os/device/virtio/virtio_device.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

// Steps of a device's status (virtio 1.2, 2.1).
constexpr std::uint8_t seen = 1, driven = 2, runs = 4, features_agreed = 8;

}  // namespace

Result<void> VirtioDevice::reset() {
  write(layout_.status, 0);
  for (int tries = 0; tries < 100'000; ++tries) {
    if (read(layout_.status) == 0) return {};
    arch::pause();
  }
  return Error::of(ErrorCode::unsupported, "expected a device that can be reset, found status ", read(layout_.status));
}

Result<std::uint64_t> VirtioDevice::begin(std::uint64_t (*choose)(std::uint64_t offered)) {
  TRY(reset());
  write(layout_.status, seen);
  write(layout_.status, seen | driven);
  std::uint64_t offered = 0;
  for (const std::uint32_t word : {0u, 1u}) {
    write(layout_.offered_selector, word);
    offered |= std::uint64_t{read(layout_.offered)} << (32 * word);
  }
  const std::uint64_t agreed = offered & (choose(offered) | virtio_version_1);
  for (const std::uint32_t word : {0u, 1u}) {
    write(layout_.accepted_selector, word);
    write(layout_.accepted, static_cast<std::uint32_t>(agreed >> (32 * word)));
  }
  write(layout_.status, seen | driven | features_agreed);
  if ((agreed & virtio_version_1) != 0 && (read(layout_.status) & features_agreed) != 0) return agreed;
  stop();
  return Error::of(ErrorCode::unsupported, "expected a device of virtio 1.0 that keeps to what it offers, found ",
                   PhysicalAddress(offered), " offered");
}

void VirtioDevice::go() { write(layout_.status, seen | driven | features_agreed | runs); }

std::uint16_t VirtioDevice::queue_capacity(std::uint16_t queue) {
  write(layout_.queue_selector, queue);
  constexpr std::uint32_t most = 0x8000;
  return static_cast<std::uint16_t>(std::min(most, read(layout_.queue_capacity)));
}

void VirtioDevice::write_address(VirtioLayout::Field field, PhysicalAddress address) {
  registers_.write(field.offset, 4, static_cast<std::uint32_t>(address.value()));
  registers_.write(field.offset + 4u, 4, static_cast<std::uint32_t>(address.value() >> 32));
}

Result<void> VirtioDevice::enable_queue(std::uint16_t queue, VirtioQueueMemory& memory, std::uint16_t interrupt) {
  write(layout_.queue_selector, queue);
  write(layout_.queue_entries, memory.entries());
  write_address(layout_.queue_descriptors, memory.physical());
  write_address(layout_.queue_available, memory.physical() + VirtioQueue::available_at);
  write_address(layout_.queue_used, memory.physical() + VirtioQueue::used_at);
  memory.doorbell = TRY(connect_queue(queue, interrupt));
  write(layout_.queue_enabled, 1);
  if (read(layout_.queue_enabled) == 1) return {};
  return Error::of(ErrorCode::unsupported, "expected queue ", queue, " to be enabled, found that it is not");
}

}  // namespace ingot::os
