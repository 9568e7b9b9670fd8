// BumpAllocator: one pointer that moves up, and back to the start when nothing is in use any more. The fastest there
// is, for work that ends all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/memory/address.h"
#include "os/memory/allocator.h"

namespace ingot::os {

class BumpAllocator final : public CountingAllocator {
 public:
  // The range must outlive the allocator.
  BumpAllocator(std::span<std::byte> range, Poison poison)
      : CountingAllocator(poison),
        begin_(reinterpret_cast<std::uintptr_t>(range.data())),
        end_(begin_ + range.size()),
        next_(begin_) {}

 private:
  void* take(std::size_t bytes, std::size_t alignment) override {
    const std::uintptr_t block = round_up(next_, alignment);
    if (block < next_ || block > end_ || end_ - block < bytes) return nullptr;
    next_ = block + bytes;
    return reinterpret_cast<void*>(block);
  }
  void give_back(void* block, std::size_t bytes, std::size_t) override {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    if (begin < begin_ || begin + bytes > next_) __builtin_trap();
    if (begin + bytes == next_) next_ = begin;  // the latest block comes back at once
    if (statistics().live_blocks == 0) next_ = begin_;
  }

  std::uintptr_t begin_;
  std::uintptr_t end_;
  std::uintptr_t next_;
};

}  // namespace ingot::os
