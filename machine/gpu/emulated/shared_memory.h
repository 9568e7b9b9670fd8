// The dynamic shared memory of a block: poisoned when a block begins, and with a page behind it that nobody may touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "machine/guarded_memory.h"

namespace ingot::emulated {

// What a block of a device of compute capability 8.0 may ask for.
inline constexpr std::size_t most_shared_bytes = std::size_t{163} << 10;

class SharedMemory {
 public:
  ~SharedMemory();
  Result<void> begin_launch(std::size_t bytes);
  void begin_block();
  // What lies between the end of what was asked for and the guard is as it was. (Sources written for 16 bytes get
  // them.)
  bool is_tail_whole() const;

  std::byte* data() const { return data_; }

 private:
  GuardedMemory memory_;
  GuardedMemory::Piece piece_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ingot::emulated
