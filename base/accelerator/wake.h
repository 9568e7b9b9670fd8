// Sleeping and waking between a worker and its client, of which each writes words of its own only.
//
// Who waits (for commands, or for answers) raises its flag `sleeps`, then looks once more, and only then sleeps on its
// descriptor or for its interrupt. Who brings work publishes an index, then looks at the flag, and where it is up,
// rings. Let W be the store of the index and R the load of the flag by the one, F the store of the flag and L the last
// look by the other:
//
//     bringer:  W  R          sleeper:  F  L
//
// A wake is lost only where R misses F and L misses W. Where both sides have a fence between their two steps, all four
// have one order, in which either W comes before L or F before R: one of them sees the other.
//
// A client in a machine that is emulated on one virtual CPU cannot promise its fence: QEMU leaves them out there. That
// a processor of the kinds we know lets R pass W, and nothing else, is what remains then: R is done while W still waits
// in the processor's buffer of stores. Such a buffer empties by itself within microseconds, and at once where the
// processor turns to anything else. So where the worker is the sleeper, it looks once more a millisecond later, with
// its flag up and its bell heard meanwhile: a W whose R missed F lies open by then. Where it is the bringer it does not
// look: it rings for every answer.
//
// Whatever is lost all the same, by a client that promises what it does not keep, costs that client a wait until the
// worker's next look, ten a second.
#pragma once

#include "base/accelerator/layout.h"

namespace ingot::accelerator {

// Of the sleeper, behind its last look and before it sleeps: true where there was nothing. `order` is the fence;
// `has_more` the look. When it wakes, or where this says false, it must call wake_up() of its flag.
template <class Order, class HasMore>
[[nodiscard]] bool may_sleep(Atomic<std::uint32_t>& sleeps, const Order& order, const HasMore& has_more) {
  sleeps.store(1, MemoryOrder::relaxed);
  order();
  return !has_more();
}

inline void wake_up(Atomic<std::uint32_t>& sleeps) { sleeps.store(0, MemoryOrder::relaxed); }

// Of the bringer, behind the store of its index.
template <class Order>
[[nodiscard]] bool must_ring(const Atomic<std::uint32_t>& sleeps, const Order& order) {
  order();
  return sleeps.load(MemoryOrder::relaxed) != 0;
}

// The fence of those who have one.
inline void full_fence() { atomic_fence(MemoryOrder::sequentially_consistent); }

}  // namespace ingot::accelerator
