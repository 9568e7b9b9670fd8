// LockedHeap: the kernel's heap, slabs behind a lock: for all threads on all CPUs.
#pragma once

#include <cstddef>
#include <utility>

#include "os/memory/slab_allocator.h"
#include "os/schedule/locked.h"
#include "os/trace/tracepoint.h"

namespace ingot::os {

class LockedHeap final : public Allocator {
 public:
  LockedHeap(FrameSource& frames, PhysicalWindow window, Poison poison)
      : slabs_(LockRank::heap, frames, window, poison) {}

  using Allocator::allocate, Allocator::free;
  Result<void*> allocate(std::size_t bytes, std::size_t alignment) override {
    Result<void*> block = slabs_.with([&](SlabAllocator& slabs) { return slabs.allocate(bytes, alignment); });
    if (block.ok()) trace(arch::current_cpu(), &Tracepoints::heap_allocated, block.value(), bytes);
    return block;
  }
  void free(void* block, std::size_t bytes, std::size_t alignment) override {
    trace(arch::current_cpu(), &Tracepoints::heap_freed, block, bytes);
    slabs_.with([&](SlabAllocator& slabs) { slabs.free(block, bytes, alignment); });
  }
  HeapStatistics statistics() const override {
    return slabs_.with([](const SlabAllocator& slabs) { return slabs.statistics(); });
  }
  template <class Use>
  auto with(Use&& use) const {
    return slabs_.with(std::forward<Use>(use));
  }

 private:
  mutable Locked<SlabAllocator, SharedWith::interrupts> slabs_;
};

}  // namespace ingot::os
