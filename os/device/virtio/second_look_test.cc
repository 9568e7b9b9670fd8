// A driver that falls asleep while its device uses a chain: in no order of their steps is it left asleep.
#include <gtest/gtest.h>

#include <array>

#include "os/device/virtio/fake_virtio_ring.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os::interleavings {
namespace {

template <bool event_index, bool looks_twice>
struct DriverAndDevice {
  static constexpr int chain_count = 3;
  alignas(4096) std::array<std::byte, VirtioQueue::memory_bytes> memory;
  std::array<VirtioChain, 4> chains;
  VirtioQueue queue;
  FakeVirtioRing device{memory.data(), 4, event_index};
  Atomic<bool> interrupted;
  WaitQueue sleeping;
  int taken = 0;

  void begin(Simulation& simulation) {
    queue.begin(memory.data(), chains, event_index);
    const VirtioPiece piece[] = {{PhysicalAddress(0x1000), 8}};
    for (int i = 0; i < chain_count; ++i) simulation.expect(queue.add({}, piece, 0), "no room");
    static_cast<void>(queue.publish());
    simulation.start_thread("driver", [&] {
      while (true) {
        interrupted.exchange(false, MemoryOrder::sequentially_consistent);
        queue.do_not_interrupt();
        while (queue.take()) ++taken;
        if (taken == chain_count) return;
        const bool may_sleep = queue.await();
        if (may_sleep || !looks_twice) sleeping.wait_until([&] { return interrupted.load(MemoryOrder::acquire); });
      }
    });
    simulation.start_thread("device", [&] {
      while (const auto head = device.next_chain()) {
        if (!device.use(*head, 8)) continue;
        interrupted.store(true, MemoryOrder::release);
        sleeping.wake_all();
      }
    });
  }
  void end(Simulation& simulation) {
    simulation.expect(taken == chain_count && queue.fault() == VirtioFault::none, "a chain was missed");
  }
};

TEST(VirtioInterleavings, NoChainIsMissedByADriverThatFallsAsleep) {
  const Limits limits{.cpus = 2, .preemptions = 2};
  expect_holds_in_every_order<DriverAndDevice<true, true>>(limits);
  expect_holds_in_every_order<DriverAndDevice<false, true>>(limits);
}

TEST(VirtioInterleavings, WithoutTheSecondLookOneIs) {
  const Limits limits{.cpus = 2, .preemptions = 2};
  EXPECT_NE((explore_all<DriverAndDevice<true, false>>(limits).failure), "");
  EXPECT_NE((explore_all<DriverAndDevice<false, false>>(limits).failure), "");
}

}  // namespace
}  // namespace ingot::os::interleavings
