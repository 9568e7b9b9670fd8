// LockedHeap: the kernel's heap, slabs behind a lock: for all threads on all CPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/atomic.h"
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
    if (fails_now()) return Error::of(ErrorCode::out_of_memory, "expected heap, found a failure that was asked for");
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
  // For tests: of so many allocations one fails from now on; 0: none.
  void fail_every(std::uint32_t count) { fail_every_.store(count, MemoryOrder::relaxed); }
  template <class Use>
  auto with(Use&& use) const {
    return slabs_.with(std::forward<Use>(use));
  }

 private:
  bool fails_now() {
    const std::uint32_t every = fail_every_.load(MemoryOrder::relaxed);
    return every != 0 && asked_.fetch_add(1, MemoryOrder::relaxed) % every == every - 1;
  }

  Atomic<std::uint32_t> fail_every_, asked_;
  mutable Locked<SlabAllocator, SharedWith::interrupts> slabs_;
};

}  // namespace ingot::os
