// Memory between guards: before and behind every piece lie pages that nobody may touch. An access outside is a fault at
// the instruction that makes it, in assembly too, which no sanitizer instruments. GuardWatch makes a report of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace ingot {

// A pool: mapping a piece costs more than most kernels run, so those that were given back are handed out again. One
// thread takes and gives back, and nobody does while a GuardWatch looks.
class GuardedMemory {
  struct Block;

 public:
  // Whole pages, which go back to their memory when it ends. What they hold at first is whatever was left there.
  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept;
    Piece& operator=(Piece&& other) noexcept;
    ~Piece();

    std::span<std::byte> bytes() const;       // from guard to guard
    bool is_near(const void* address) const;  // within the piece or one of its guards

   private:
    friend class GuardedMemory;
    Piece(GuardedMemory& memory, Block& block) : memory_(&memory), block_(&block) {}
    GuardedMemory* memory_ = nullptr;
    Block* block_ = nullptr;
  };

  GuardedMemory();
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // At least `bytes` bytes. A piece must not outlive its memory.
  Result<Piece> take(std::size_t bytes);

  // Lets one page of a guard be touched, until close_guards(). False: the address is in no guard. For signal handlers.
  bool open_guard(const void* address);
  void close_guards();

 private:
  Result<std::unique_ptr<Block>> map(std::size_t usable) const;
  void give_back(Block& block);

  std::size_t page_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::array<std::vector<Block*>, 32> free_;  // by the binary logarithm of their bytes
};

}  // namespace ingot
