// Physical memory for tests: an address range that costs nothing until it is written.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "os/memory/frame_allocator.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

class FakeMemory {
 public:
  explicit FakeMemory(std::uint64_t bytes, PhysicalAddress first = PhysicalAddress(0)) : first_(first), bytes_(bytes) {
    pointer_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pointer_ == MAP_FAILED) std::abort();
  }
  ~FakeMemory() { munmap(pointer_, bytes_); }
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  PhysicalWindow window() const { return {pointer_, first_, bytes_}; }

 private:
  void* pointer_;
  PhysicalAddress first_;
  std::uint64_t bytes_;
};

// All of it as frames.
inline FrameAllocator frames_of(const FakeMemory& memory) {
  MemoryMap map;
  map.add({PhysicalAddress(0), memory.window().end().value(), MemoryKind::usable}).value();
  return FrameAllocator::create(map, memory.window(), memory.window().end()).value();
}

}  // namespace ingot::os
