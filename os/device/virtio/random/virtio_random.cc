#include "os/device/virtio/random/virtio_random.h"

namespace ingot::os {

Result<void> VirtioRandom::prepare(const VirtioMemory& memory) {
  const std::uint64_t agreed = TRY(device_.begin([](std::uint64_t offered) { return offered & virtio_event_index; }));
  return memory_.begin(memory, device_.queue_capacity(0), 1, (agreed & virtio_event_index) != 0);
}

Result<void> VirtioRandom::start(const VirtioDevice::InterruptServices& services) {
  if (device_.interrupt_count() == 0) {
    return Error::of(ErrorCode::unsupported, "expected a device with messages, found none");
  }
  const VirtioDevice::InterruptTarget target[] = {{{on_interrupt, this}, 0}};
  TRY(device_.connect(services, target, {[](void*, arch::TrapFrame&) {}, nullptr}));
  TRY(device_.enable_queue(0, memory_, 0));
  device_.go();
  return {};
}

bool VirtioRandom::ask() {
  const VirtioPiece piece[] = {{memory_.page_address(), most_bytes}};
  VirtioQueue& queue = memory_.queue();
  if (!queue.add({}, piece, 0)) return queue.fault() == VirtioFault::none;
  memory_.publish();
  return true;
}

// A new queue asks for an interrupt of its first chain.
bool VirtioRandom::wait_for_first(Nanoseconds deadline) {
  return waiting_.wait_until([&] { return interrupted_.load(MemoryOrder::acquire); }, deadline);
}

void VirtioRandom::on_interrupt(void* context, arch::TrapFrame&) {
  auto& random = *static_cast<VirtioRandom*>(context);
  random.interrupted_.store(true, MemoryOrder::release);
  random.waiting_.wake_all();
}

}  // namespace ingot::os
