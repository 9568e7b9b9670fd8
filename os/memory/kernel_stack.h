// The stacks of kernel threads: where they lie, and who owns one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "os/memory/address.h"
#include "os/memory/bits512.h"

namespace ingot::os {

class KernelMemory;

inline constexpr VirtualAddress kernel_areas_begin{0xffffc00000000000};  // 512 GiB: one entry of the root table
inline constexpr VirtualAddress device_area_begin = kernel_areas_begin + 256 * giant_page_bytes;
inline constexpr VirtualAddress device_area_end = kernel_areas_begin + 512 * giant_page_bytes;

// The area is cut into slots of 64 KiB. A stack is the top of its slot; what is below, a page at least, stays unmapped.
class StackSlots {
 public:
  static constexpr std::uint64_t slot_bytes = 64 * 1024;
  static constexpr std::uint64_t most_bytes = slot_bytes - page_bytes;
  static constexpr std::size_t groups = 32;  // of 512: at most 16,384 stacks

  StackSlots() {
    for (Bits512& group : free_) group.set_range(0, Bits512::size);
  }

  // The end of a slot.
  std::optional<VirtualAddress> take() {
    for (std::size_t group = 0; group < groups; ++group) {
      const std::optional<unsigned> slot = free_[group].find_run(0);
      if (!slot) continue;
      free_[group].clear(*slot);
      return kernel_areas_begin + (group * Bits512::size + *slot + 1) * slot_bytes;
    }
    return std::nullopt;
  }
  void give_back(VirtualAddress top) {
    const std::uint64_t slot = (top - kernel_areas_begin) / slot_bytes - 1;
    free_[slot / Bits512::size].set(static_cast<unsigned>(slot % Bits512::size));
  }

 private:
  std::array<Bits512, groups> free_;
};

// Freed with its owner. Precondition of that: no CPU stands on it any more.
class KernelStack {
 public:
  KernelStack() = default;
  KernelStack(KernelMemory& memory, VirtualAddress bottom, VirtualAddress top)
      : memory_(&memory), bottom_(bottom), top_(top) {}
  KernelStack(KernelStack&& other) noexcept { *this = std::move(other); }
  KernelStack& operator=(KernelStack&& other) noexcept {  // what was here goes when `other` does
    std::swap(memory_, other.memory_);
    std::swap(bottom_, other.bottom_);
    std::swap(top_, other.top_);
    return *this;
  }
  ~KernelStack();

  VirtualAddress bottom() const { return bottom_; }  // its lowest byte; right below lies the guard page
  VirtualAddress top() const { return top_; }        // one past its highest byte, a multiple of 4 KiB

 private:
  KernelMemory* memory_ = nullptr;
  VirtualAddress bottom_;
  VirtualAddress top_;
};

}  // namespace ingot::os
