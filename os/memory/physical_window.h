// PhysicalWindow: the one place where a physical address becomes a pointer. The kernel maps all memory at a fixed
// distance; a test lets the window look into an array.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os {

class PhysicalWindow {
 public:
  // `bytes` of physical memory from `first` on appear at `pointer`.
  PhysicalWindow(void* pointer, PhysicalAddress first, std::uint64_t bytes)
      : offset_(reinterpret_cast<std::uintptr_t>(pointer) - first.value()), first_(first), end_(first + bytes) {}

  PhysicalAddress begin() const { return first_; }
  PhysicalAddress end() const { return end_; }
  bool contains(PhysicalAddress address) const { return address >= first_ && address < end_; }

  // Precondition: contains(address). Who follows an address outside has a bug, so this traps.
  template <class Value>
  Value* at(PhysicalAddress address) const {
    if (!contains(address)) __builtin_trap();
    return reinterpret_cast<Value*>(offset_ + address.value());
  }
  template <class Value>
  Value* at(FrameNumber frame) const {
    return at<Value>(frame.address());
  }

  // The other way, for a pointer that at() returned.
  PhysicalAddress physical(const void* pointer) const {
    return PhysicalAddress(reinterpret_cast<std::uintptr_t>(pointer) - offset_);
  }

  void clear(PhysicalAddress begin, std::uint64_t bytes) const { __builtin_memset(at<char>(begin), 0, bytes); }
  void copy(PhysicalAddress to, PhysicalAddress from, std::uint64_t bytes) const {
    __builtin_memcpy(at<char>(to), at<char>(from), bytes);
  }

 private:
  std::uintptr_t offset_;
  PhysicalAddress first_;
  PhysicalAddress end_;
};

}  // namespace ingot::os
