// InterruptTable: who handles which vector. Handlers run with interrupts off: they do the least and wake a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "os/arch/arch.h"

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
  void release(std::size_t vector);

  // False where nobody claimed the frame's vector; such arrivals are counted.
  bool dispatch(arch::TrapFrame& frame);

  std::uint64_t unclaimed_count() const { return unclaimed_count_; }

 private:
  std::array<InterruptHandler, vector_count> handlers_{};
  std::uint64_t unclaimed_count_ = 0;
};

}  // namespace ingot::os
