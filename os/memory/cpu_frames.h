// CpuFrames: the machine's frames as the kernel uses them. Each CPU has a cache; behind all of them stands the
// allocator in its lock. Not for interrupt handlers: one might interrupt its own CPU's cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "os/arch/arch.h"
#include "os/memory/frame_allocator.h"
#include "os/memory/frame_cache.h"
#include "os/schedule/locked.h"

namespace ingot::os {

// With interrupts off, so that no handler waits for a lock while its CPU holds this one.
class LockedFrames {
 public:
  explicit LockedFrames(FrameAllocator frames) : table_(frames.table()), frames_(LockRank::frames, std::move(frames)) {}

  // Apart from its callers: it would need registers that they then save for frames from a cache, too.
  [[gnu::noinline]] Result<FrameNumber> allocate(unsigned order, Zone zone) {
    return frames_.with([&](FrameAllocator& frames) { return frames.allocate(order, zone); });
  }
  std::size_t allocate_batch(std::span<FrameNumber> batch) {
    return frames_.with([&](FrameAllocator& frames) { return frames.allocate_batch(batch); });
  }
  void free_batch(std::span<const FrameNumber> heads) {
    frames_.with([&](FrameAllocator& frames) { frames.free_batch(heads); });
  }
  const FrameTable& table() const { return table_; }

  template <class Use>
  auto with(Use&& use) {
    return frames_.with(std::forward<Use>(use));
  }

 private:
  FrameTable table_;
  Locked<FrameAllocator, SharedWith::interrupts> frames_;
};

class CpuFrames final : public FrameSource {
 public:
  using Cache = FrameCache<LockedFrames>;
  static constexpr std::size_t most_cpus = 64;

  explicit CpuFrames(FrameAllocator frames) : shared_(std::move(frames)), first_(shared_) { caches_[0] = &first_; }

  using FrameSource::allocate;
  Result<FrameNumber> allocate(unsigned order, Zone zone) override { return here().allocate(order, zone); }
  void release(FrameNumber frame, unsigned order) override { here().release(frame, order); }
  void unpin(FrameNumber frame) override { here().unpin(frame); }
  const FrameTable& table() const override { return shared_.table(); }

  // The boot CPU has its cache; every other one gets it before it starts, and keeps it.
  void set_cache(std::uint32_t cpu, Cache& cache) { caches_[cpu] = &cache; }
  LockedFrames& shared() { return shared_; }
  // Frames that wait in caches; exact while the other CPUs are idle.
  std::uint64_t cached() const {
    std::uint64_t count = 0;
    for (const Cache* cache : caches_) count += cache != nullptr ? cache->size() : 0;
    return count;
  }

 private:
  // A thread is never preempted, so it stays on this CPU until the cache has answered.
  Cache& here() { return *caches_[arch::current_cpu().index]; }

  LockedFrames shared_;
  Cache first_;
  std::array<Cache*, most_cpus> caches_{};
};

}  // namespace ingot::os
