// InterruptTable: who handles which vector. Handlers run with interrupts off: they do the least and wake a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "os/arch/arch.h"
#include "os/schedule/locked.h"

namespace ingot::os {

struct InterruptHandler {
  void (*function)(void* context, arch::TrapFrame&) = nullptr;
  void* context = nullptr;
};

class InterruptTable {
 public:
  static constexpr std::size_t vector_count = 256;

  // Fails where the vector has a handler: two drivers would fight over it. Do it before the vector can arrive.
  Result<void> claim(std::size_t vector, InterruptHandler handler);
  // The same for a device that takes any vector.
  Result<std::uint8_t> allocate(InterruptHandler handler);
  // After it can no longer arrive.
  void release(std::size_t vector);

  // False where nobody claimed the frame's vector.
  bool dispatch(arch::TrapFrame& frame);

 private:
  struct Claims {};  // the right to change handlers_, which are read without it

  std::array<InterruptHandler, vector_count> handlers_{};
  Locked<Claims, SharedWith::interrupts> claims_{LockRank::interrupts};
};

}  // namespace ingot::os
