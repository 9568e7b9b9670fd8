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

// The area is cut into slots of 64 KiB. A stack fills the top of its slots, at least one page below it stays unmapped.
class StackSlots {
 public:
  static constexpr std::uint64_t slot_bytes = 64 * 1024;
  static constexpr std::uint64_t most_bytes = 192 * 1024;  // so that a TlbBatch holds all its frames
  static constexpr std::size_t groups = 32;                // of 512: at most 16,384 stacks

  StackSlots() {
    for (Bits512& group : free_) group.set_range(0, Bits512::size);
  }

  // The number of slots that `bytes` and a guard page need, as a power of two.
  static unsigned order_for(std::uint64_t bytes) {
    unsigned order = 0;
    while ((slot_bytes << order) < bytes + page_bytes) ++order;
    return order;
  }
  // The lowest address of 2^order slots.
  std::optional<VirtualAddress> take(unsigned order) {
    for (std::size_t group = 0; group < groups; ++group) {
      const std::optional<unsigned> first = free_[group].find_run(order);
      if (!first) continue;
      free_[group].clear_range(*first, *first + (1u << order));
      return kernel_areas_begin + (group * Bits512::size + *first) * slot_bytes;
    }
    return std::nullopt;
  }
  void give_back(VirtualAddress begin, unsigned order) {
    const std::uint64_t slot = (begin - kernel_areas_begin) / slot_bytes;
    const auto first = static_cast<unsigned>(slot % Bits512::size);
    free_[slot / Bits512::size].set_range(first, first + (1u << order));
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
  KernelStack(KernelStack&& other) noexcept { swap(other); }
  KernelStack& operator=(KernelStack&& other) noexcept {
    KernelStack(std::move(other)).swap(*this);
    return *this;
  }
  ~KernelStack();

  VirtualAddress bottom() const { return bottom_; }  // its lowest byte; right below lies the guard page
  VirtualAddress top() const { return top_; }        // one past its highest byte, a multiple of 4 KiB
  bool guards(VirtualAddress address) const { return address < bottom_ && bottom_ - address <= page_bytes; }

 private:
  void swap(KernelStack& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bottom_, other.bottom_);
    std::swap(top_, other.top_);
  }

  KernelMemory* memory_ = nullptr;
  VirtualAddress bottom_;
  VirtualAddress top_;
};

}  // namespace ingot::os
