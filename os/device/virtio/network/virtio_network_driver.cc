#include "os/device/virtio/network/virtio_network_driver.h"

#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/device/virtio/network/virtio_network.h"

namespace ingot::os {

namespace {

constexpr std::array<std::string_view, 4> names{"eth0", "eth1", "eth2", "eth3"};

void serve(VirtioNetwork::Pair& pair) {
  for (pair.begin();; VirtioNetwork::sleep(pair)) {
    while (pair.network.work(pair)) current_scheduler().yield();
  }
}

// On its own CPU each, for good.
Result<void> spawn_threads(Kernel& kernel, VirtioNetwork& card) {
  for (std::uint32_t cpu = 0; cpu < card.pairs().size(); ++cpu) {
    auto thread = TRY(make_owned<std::optional<KernelThread>>(kernel.memory->heap()));
    thread->emplace(TRY(spawn_on(kernel, cpu, "network card", serve, card.pairs()[cpu])));
    static_cast<void>(thread.release());
  }
  return {};
}

// One that nobody else has: drawn, and marked as such (IEEE 802, 8.2).
network::HardwareAddress draw_address(SecureRandom& random) {
  network::HardwareAddress address;
  random.fill(std::as_writable_bytes(std::span(address)));
  address[0] = static_cast<std::uint8_t>((address[0] & ~1u) | 2u);
  return address;
}

}  // namespace

Result<void> create_virtio_network(Kernel& kernel, VirtioDevice& device) {
  DrivenLink** place = &kernel.links;
  std::size_t number = 0;
  for (; *place != nullptr; place = &(*place)->next) ++number;
  if (number == names.size()) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", names.size(), " network cards, found one more");
  }
  KernelMemory& memory = *kernel.memory;
  const VirtioMemory parts{memory.frames(), memory.window(), memory.heap()};
  auto owned = TRY(make_owned<VirtioNetwork>(memory.heap(), device, parts, kernel.log));
  TRY(owned->prepare(names[number], draw_address(kernel.random), kernel.scheduler.processor_count()));
  VirtioNetwork& card = *owned.release();  // interrupts point at it
  TRY(card.start({kernel.controller(), kernel.interrupts, memory}));
  if (const Result<void> spawned = spawn_threads(kernel, card); !spawned.ok()) {
    device.stop();
    return spawned;
  }
  *place = &card;
  const network::LinkProperties& link = card.properties();
  kernel.log.information(link.name, ": virtio, MTU ", link.mtu, ", ", card.pairs().size(), " pairs of queues",
                         link.computes_checksums ? ", checksums" : "", link.cuts_v4 ? ", segments" : "");
  return {};
}

}  // namespace ingot::os
