// VirtioRandom: a device that gives random bytes of the host (virtio 1.2, 5.4). They are stirred into the kernel's, at
// the start and from time to time.
#pragma once

#include <optional>

#include "os/device/virtio/virtio_driver.h"
#include "os/schedule/task.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {

class VirtioRandom {
 public:
  static constexpr std::uint32_t most_bytes = 64;

  explicit VirtioRandom(VirtioDevice& device) : device_(device) {}

  // Everything that can be refused for want of memory, before the device is told of anything that lies here.
  Result<void> prepare(const VirtioMemory& memory);
  Result<void> start(const VirtioDevice::InterruptServices& services);

  // Asks for bytes, unless an answer is awaited. False: the device is broken.
  bool ask();
  // The answer, if it is there. Bytes are shown to `use` once.
  template <class Use>
  void take(Use&& use) {
    const std::optional<VirtioQueue::Used> used = memory_.queue().take();
    if (used) use(std::span(memory_.page(), used->bytes));
  }
  // Sleeps until an interrupt has told of the first answer, or the time is over: false.
  bool wait_for_first(Nanoseconds deadline);
  VirtioFault fault() { return memory_.queue().fault(); }
  void stop() { device_.stop(); }

 private:
  static void on_interrupt(void* context, arch::TrapFrame&);

  VirtioDevice& device_;
  VirtioQueueMemory memory_;
  Atomic<bool> interrupted_;
  WaitQueue waiting_;
};

Result<void> create_virtio_random(Kernel& kernel, VirtioDevice& device);
inline constexpr VirtioDriver virtio_random_driver{"virtio random numbers", 4, create_virtio_random};

}  // namespace ingot::os
