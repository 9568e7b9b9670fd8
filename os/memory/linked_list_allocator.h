// LinkedListAllocator: free pieces of one range in a list by address, the first that fits is taken, neighbours are
// joined again. It needs nothing but the range, uses it fully, and takes time in proportion to the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/memory/allocator.h"

namespace ingot::os {

class LinkedListAllocator final : public CountingAllocator {
 public:
  // The range must outlive the allocator. Its ends are rounded inwards to 16 bytes.
  LinkedListAllocator(std::span<std::byte> range, Poison poison);

  std::size_t free_pieces() const;

 private:
  struct Piece {
    std::size_t bytes;
    Piece* next;
  };
  static constexpr std::size_t grain = 16;
  static_assert(sizeof(Piece) <= grain);

  void* take(std::size_t bytes, std::size_t alignment) override;
  void give_back(void* block, std::size_t bytes, std::size_t alignment) override;
  void insert(std::uintptr_t begin, std::size_t bytes);

  Piece first_{0, nullptr};  // its next is the lowest piece
};

}  // namespace ingot::os
