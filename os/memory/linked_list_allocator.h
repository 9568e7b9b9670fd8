// LinkedListAllocator: free pieces of one range in a list by address, the first that fits is taken, neighbours are
// joined again. It needs nothing but the range, uses it fully, and takes time in proportion to the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "os/memory/address.h"
#include "os/memory/allocator.h"

namespace ingot::os {

class LinkedListAllocator final : public CountingAllocator {
 public:
  // The range must outlive the allocator. Its ends are rounded inwards to 16 bytes.
  LinkedListAllocator(std::span<std::byte> range, Poison poison) : CountingAllocator(poison) {
    const auto address = reinterpret_cast<std::uintptr_t>(range.data());
    const std::uintptr_t begin = round_up(address, grain);
    const std::uintptr_t end = round_down(address + range.size(), grain);
    if (begin < end) insert(begin, end - begin);
  }

  std::size_t free_pieces() const {
    std::size_t count = 0;
    for (const Piece* piece = first_.next; piece != nullptr; piece = piece->next) ++count;
    return count;
  }

 private:
  struct Piece {
    std::size_t bytes;
    Piece* next;
  };
  static constexpr std::size_t grain = 16;
  static_assert(sizeof(Piece) <= grain);

  void* take(std::size_t bytes, std::size_t alignment) override {
    const std::size_t needed = round_up(bytes, grain);
    for (Piece* before = &first_; before->next != nullptr; before = before->next) {
      Piece* piece = before->next;
      const auto piece_begin = reinterpret_cast<std::uintptr_t>(piece);
      const std::uintptr_t piece_end = piece_begin + piece->bytes;
      const std::uintptr_t begin = round_up(piece_begin, alignment);
      if (begin < piece_begin || begin > piece_end || piece_end - begin < needed) continue;
      before->next = piece->next;
      if (begin != piece_begin) insert(piece_begin, begin - piece_begin);
      if (begin + needed != piece_end) insert(begin + needed, piece_end - begin - needed);
      return reinterpret_cast<void*>(begin);
    }
    return nullptr;
  }
  void give_back(void* block, std::size_t bytes, std::size_t) override {
    insert(reinterpret_cast<std::uintptr_t>(block), round_up(bytes, grain));
  }
  void insert(std::uintptr_t begin, std::size_t bytes) {
    Piece* before = &first_;
    while (before->next != nullptr && reinterpret_cast<std::uintptr_t>(before->next) < begin) before = before->next;
    const auto before_end = before == &first_ ? 0 : reinterpret_cast<std::uintptr_t>(before) + before->bytes;
    const auto after = reinterpret_cast<std::uintptr_t>(before->next);
    if (before_end > begin || (after != 0 && begin + bytes > after)) __builtin_trap();  // given back twice
    Piece* piece = std::construct_at(reinterpret_cast<Piece*>(begin), bytes, before->next);
    if (after == begin + bytes) *piece = {bytes + before->next->bytes, before->next->next};
    if (before_end == begin && before != &first_) {
      *before = {before->bytes + piece->bytes, piece->next};
    } else {
      before->next = piece;
    }
  }

  Piece first_{0, nullptr};  // its next is the lowest piece
};

}  // namespace ingot::os
