// LocatedMemory: which of the machine's memory the worker has found.
//
// The worker has all of it as one file, of which nobody knows what lies where. So each stretch is looked for: a number
// that nobody else has is written into a frame of it, and the worker says that it found it.
#pragma once

#include <span>

#include "os/boot/memory_map.h"
#include "os/device/fixed_list.h"
#include "os/gpu/memory_owner.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

class LocatedMemory {
 public:
  LocatedMemory(FrameSource& frames, PhysicalWindow window) : frames_(frames), window_(window) {}

  // Stretches of which the kernel has no frame to write to stay out, and those beyond as many as a worker knows. Fails
  // where all are out, and where the worker does not find one.
  Result<void> locate(std::span<const MemoryRange> ranges, MemoryOwner& owner, AcceleratorMachine& machine);

  // Whether all of it lies in one located stretch.
  bool holds(PhysicalAddress begin, std::uint64_t bytes) const;
  std::uint64_t bytes() const;

 private:
  static constexpr std::size_t most_stretches = accelerator::most_located;

  Result<void> locate_one(const PhysicalRange& stretch, MemoryOwner& owner, std::uint64_t nonce);

  FrameSource& frames_;
  PhysicalWindow window_;
  FixedList<PhysicalRange, most_stretches> stretches_;
};

}  // namespace ingot::os
