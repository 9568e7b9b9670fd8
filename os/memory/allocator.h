// Allocator: the heap as an interface. Callers name size and alignment when they give memory back, so blocks need no
// headers. Several stand behind it: slabs (the kernel's heap, behind a lock), a linked list and a bump pointer over a
// fixed range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace ingot::os {

struct HeapStatistics {
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;  // as asked for
  std::uint64_t peak_bytes = 0;
  std::uint64_t allocations = 0;
  std::uint64_t failures = 0;
};

// Poisoned memory makes a use before initialisation or after freeing show: new blocks and freed ones are filled with
// bytes that are neither zero nor a pointer.
enum class Poison : std::uint8_t { off, on };

class Allocator {
 public:
  static constexpr std::size_t default_alignment = 16;

  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  virtual Result<void*> allocate(std::size_t bytes, std::size_t alignment) = 0;
  Result<void*> allocate(std::size_t bytes) { return allocate(bytes, default_alignment); }
  // Precondition: allocate(bytes, alignment) returned the block. What cannot be true traps.
  virtual void free(void* block, std::size_t bytes, std::size_t alignment) = 0;
  void free(void* block, std::size_t bytes) { free(block, bytes, default_alignment); }
  virtual HeapStatistics statistics() const = 0;

  // At the end of a test or a boot: everything that was taken has come back.
  Result<void> expect_no_leak() const {
    const HeapStatistics now = statistics();
    if (now.live_blocks == 0) return {};
    return Error::of(ErrorCode::corrupt, "expected an empty heap, found ", now.live_blocks, " blocks of ",
                     now.live_bytes, " bytes still in use");
  }

 protected:
  ~Allocator() = default;
};

// What the allocators share: they check, count and poison. None is a lock.
class CountingAllocator : public Allocator {
 public:
  static constexpr unsigned char fresh_byte = 0xa5;
  static constexpr unsigned char freed_byte = 0xdf;

  explicit CountingAllocator(Poison poison) : poison_(poison) {}

  using Allocator::allocate, Allocator::free;
  Result<void*> allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes == 0 || bytes > most_bytes || alignment == 0 || (alignment & (alignment - 1)) != 0) {
      return Error::of(ErrorCode::invalid_argument, "expected 1 to ", most_bytes, " bytes at a power of two, found ",
                       bytes, " at ", alignment);
    }
    void* block = take(bytes, alignment);
    if (block == nullptr) {
      ++statistics_.failures;
      return Error::of(ErrorCode::out_of_memory, "expected ", bytes, " free bytes of heap, found no room beside ",
                       statistics_.live_bytes, " live bytes");
    }
    if (poison_ == Poison::on) __builtin_memset(block, fresh_byte, bytes);
    ++statistics_.allocations;
    ++statistics_.live_blocks;
    statistics_.live_bytes += bytes;
    if (statistics_.live_bytes > statistics_.peak_bytes) statistics_.peak_bytes = statistics_.live_bytes;
    return block;
  }

  void free(void* block, std::size_t bytes, std::size_t alignment) override {
    if (statistics_.live_blocks == 0 || statistics_.live_bytes < bytes) __builtin_trap();
    if (poison_ == Poison::on) __builtin_memset(block, freed_byte, bytes);
    --statistics_.live_blocks;
    statistics_.live_bytes -= bytes;
    give_back(block, bytes, alignment);
  }

  HeapStatistics statistics() const override { return statistics_; }

 protected:
  ~CountingAllocator() = default;
  Poison poison() const { return poison_; }

  static constexpr std::size_t most_bytes = std::size_t{1} << 40;  // beyond, sums could overflow

 private:
  // nullptr when there is no room.
  virtual void* take(std::size_t bytes, std::size_t alignment) = 0;
  virtual void give_back(void* block, std::size_t bytes, std::size_t alignment) = 0;

  Poison poison_;
  HeapStatistics statistics_;
};

}  // namespace ingot::os
