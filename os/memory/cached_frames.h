// CachedFrames: the machine's frames as the kernel uses them. Each CPU has a cache; behind all of them stands the
// allocator in its lock. Not for interrupt handlers: one might interrupt its own CPU's cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/image/machine_limits.h"
#include "base/result.h"
#include "os/arch/arch.h"
#include "os/memory/frame_cache.h"
#include "os/trace/tracepoint.h"

namespace ingot::os {

class CachedFrames final : public FrameSource {
 public:
  static constexpr std::size_t most_cpus = most_machine_cpus;

  explicit CachedFrames(FrameAllocator frames)
      : table_(frames.table()), shared_(LockRank::frames, std::move(frames)), first_(shared_, table_) {
    caches_[0] = &first_;
  }

  using FrameSource::allocate;
  Result<FrameNumber> allocate(unsigned order, Zone zone) override {
    const arch::ProcessorHeader& cpu = arch::current_cpu();
    Result<FrameNumber> frame = caches_[cpu.index]->allocate(order, zone);
    if (frame.ok()) trace(cpu, &Tracepoints::frame_allocated, frame.value(), order);
    return frame;
  }
  void release(FrameNumber frame, unsigned order) override { here().release(frame, order); }
  void unpin(FrameNumber frame) override { here().unpin(frame); }
  void adopt(FrameNumber begin, FrameNumber end) override { here().adopt(begin, end); }
  const FrameTable& table() const override { return table_; }

  // The boot CPU has its cache; every other one gets it before it starts, and keeps it.
  void set_cache(std::uint32_t cpu, FrameCache& cache) { caches_[cpu] = &cache; }
  LockedFrames& shared() { return shared_; }
  // Frames that wait in caches; exact while the other CPUs are idle.
  std::uint64_t cached() const {
    std::uint64_t count = 0;
    for (const FrameCache* cache : caches_) count += cache != nullptr ? cache->size() : 0;
    return count;
  }

 private:
  // A thread is never preempted, so it stays on this CPU until the cache has answered.
  FrameCache& here() { return *caches_[arch::current_cpu().index]; }

  FrameTable table_;
  LockedFrames shared_;
  FrameCache first_;
  std::array<FrameCache*, most_cpus> caches_{};
};

}  // namespace ingot::os
