// KernelMemory: the memory of the running kernel in one object. Frames, the heap, and the kernel's half of every
// address space: all of it for every thread on every CPU, none of it for interrupt handlers.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/result.h"
#include "os/memory/address_space.h"
#include "os/memory/cached_frames.h"
#include "os/memory/kernel_stack.h"
#include "os/memory/locked_heap.h"
#include "os/memory/tlb_flush.h"
#include "os/schedule/locked.h"
#include "os/trace/log.h"

namespace ingot::os {

// Makes this CPU forget translations; and has the others do so, once there are others.
class MachineTlb final : public TlbFlusher {
 public:
  void flush(const TlbFlush& flush) override {
    flush_this_cpu(flush);
    if (others_ != nullptr) others_->flush(flush);
  }
  // `others` interrupts every other CPU and waits until each ran flush_this_cpu. It is called with interrupts on.
  void set_others(TlbFlusher& others) { others_ = &others; }

 private:
  TlbFlusher* others_ = nullptr;
};

// What is in use beside what the kernel keeps for speed: equal before and after work that leaks nothing.
struct MemoryInUse {
  std::uint64_t heap_blocks = 0, heap_bytes = 0, frames = 0;

  bool operator==(const MemoryInUse&) const = default;
};

class KernelMemory {
 public:
  // `root`: the page table the kernel runs on. It stays, and is changed only from here on.
  KernelMemory(FrameAllocator frames, PhysicalWindow window, PhysicalAddress root, PageSize largest, Poison poison);
  // Makes the tables of the kernel's areas exist before address spaces share them.
  Result<void> prepare();
  // Before another CPU starts.
  Result<void> add_cpu(std::uint32_t index);

  FrameSource& frames() { return frames_; }
  CachedFrames& cached_frames() { return frames_; }
  Allocator& heap() { return heap_; }
  void fail_heap_every(std::uint32_t count) { heap_.fail_every(count); }
  PhysicalWindow window() const { return window_; }
  MachineTlb& tlb() { return tlb_; }
  MemoryServices services() { return {&frames_, window_, &tlb_, &heap_, &spaces_}; }
  // To be shared by address spaces; the lock guards what lies below.
  const NativePageTable& table() const { return table_; }

  // Whole pages above a page that is never mapped; returned with their owner.
  Result<KernelStack> allocate_stack(std::uint64_t bytes);
  // Registers or a device's memory at any physical address, for good.
  Result<VirtualAddress> map_device(PhysicalAddress physical, std::uint64_t bytes, CacheMode cache);

  // Exact while nobody else allocates.
  MemoryInUse in_use();
  // Who holds what, in at most 24 lines. The second, for a moment when memory has run out: the first time only.
  void report(Log& log);
  void report_once(Log& log) {
    if (!reported_.exchange(true, MemoryOrder::relaxed)) report(log);
  }

 private:
  friend class KernelStack;

  struct Areas {
    NativePageTable table;
    StackSlots slots;
    VirtualAddress next_device;
    std::uint64_t stack_pages = 0;
  };
  Result<void> map_stack(Areas& areas, VirtualAddress bottom, VirtualAddress top);
  void free_stack(const KernelStack& stack);

  PhysicalWindow window_;
  CachedFrames frames_;
  LockedHeap heap_;
  MachineTlb tlb_;
  NativePageTable table_;
  Atomic<bool> reported_{false};
  AddressSpaceList spaces_{LockRank::memory_object};
  Locked<Areas, SharedWith::interrupts> areas_;
};

}  // namespace ingot::os
