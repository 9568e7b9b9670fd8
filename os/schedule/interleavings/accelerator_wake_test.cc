// The rings of an accelerator (base/accelerator) in every order: who brings work and who falls asleep miss each other
// nowhere. That their fences suffice on weaker hardware is argued in wake.h; here memory is sequentially consistent.
#include <gtest/gtest.h>

#include "base/accelerator/wake.h"
#include "os/schedule/interleavings/scenario_for_tests.h"
#include "os/schedule/semaphore.h"

namespace ingot::os::interleavings {
namespace {

enum class SecondLook { taken, forgotten };

template <SecondLook look>
struct WakeScenario {
  static constexpr std::uint64_t packets = 2;
  Atomic<std::uint64_t> written;
  Atomic<std::uint32_t> sleeps;
  Semaphore bell{0};
  std::uint64_t taken = 0;

  bool has_more() const { return written.load(MemoryOrder::acquire) > taken; }
  void work() {
    while (taken < packets) {
      if (has_more()) {
        ++taken;
        continue;
      }
      const bool sleeps_now = accelerator::may_sleep(sleeps, accelerator::full_fence,
                                                     [&] { return look == SecondLook::taken && has_more(); });
      if (sleeps_now) bell.acquire();
      accelerator::wake_up(sleeps);
    }
  }
  void begin(Simulation& simulation) {
    simulation.start_thread("worker", [&] { work(); });
    simulation.start_thread("client", [&] {
      for (std::uint64_t packet = 1; packet <= packets; ++packet) {
        written.store(packet, MemoryOrder::release);
        if (accelerator::must_ring(sleeps, accelerator::full_fence)) bell.release();
      }
    });
  }
  void end(Simulation& simulation) { simulation.expect(taken == packets, "a packet was not taken"); }
};

TEST(Interleavings, AnAcceleratorsWorkerThatFallsAsleepMissesNoPacket) {
  expect_holds_in_every_order<WakeScenario<SecondLook::taken>>({.cpus = 2, .preemptions = 2});
}

TEST(Interleavings, AWorkerThatDoesNotLookTwiceIsFound) {
  EXPECT_NE(explore_all<WakeScenario<SecondLook::forgotten>>({.cpus = 2, .preemptions = 2}).failure, "");
}

}  // namespace
}  // namespace ingot::os::interleavings
