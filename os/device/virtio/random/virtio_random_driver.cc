// The part that needs a Kernel: what is done with the bytes.
#include "os/boot/kernel.h"
#include "os/device/virtio/random/virtio_random.h"
#include "os/schedule/sleep.h"

namespace ingot::os {

namespace {

void stir(Kernel& kernel, VirtioRandom& random) {
  random.take([&](std::span<std::byte> bytes) { kernel.random.stir(bytes); });
}

// What was asked for a minute ago, and the next.
Task<void> stir_from_time_to_time(Allocator&, Kernel& kernel, VirtioRandom& random) {
  constexpr Nanoseconds minute(60'000'000'000);
  while (random.ask()) {
    co_await SleepUntil(kernel.now() + minute);
    stir(kernel, random);
  }
  random.stop();
  kernel.log.warning("virtio random numbers: stopped, the device used ", name_of(random.fault()));
  co_return {};
}

}  // namespace

Result<void> create_virtio_random(Kernel& kernel, VirtioDevice& device) {
  KernelMemory& memory = *kernel.memory;
  auto owned = TRY(make_owned<VirtioRandom>(memory.heap(), device));
  TRY(owned->prepare({memory.frames(), memory.window(), memory.heap()}));
  VirtioRandom& random = *owned.release();  // interrupts point at it
  TRY(random.start({kernel.controller(), kernel.interrupts, memory}));
  random.ask();
  // Before a program draws its first keys, if the device does not take its time.
  constexpr Nanoseconds patience(100'000'000);
  const bool told = random.wait_for_first(kernel.now() + patience);
  stir(kernel, random);
  kernel.log.information("virtio random numbers: ready", told ? ", told by an interrupt" : "");
  return Task<void>::spawn(current_tasks(), stir_from_time_to_time(memory.heap(), kernel, random));
}

}  // namespace ingot::os
