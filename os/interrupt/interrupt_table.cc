#include "os/interrupt/interrupt_table.h"

#include "os/interrupt/vectors.h"

namespace ingot::os {

Result<void> InterruptTable::claim(std::size_t vector, InterruptHandler handler) {
  if (vector >= vector_count || handler.function == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected a handler for a vector below ", vector_count,
                     ", found vector ", vector);
  }
  return claims_.with([&](Claims&) -> Result<void> {
    if (handlers_[vector].function != nullptr) {
      return Error::of(ErrorCode::invalid_argument, "expected a free interrupt vector, found a handler on vector ",
                       vector);
    }
    handlers_[vector] = handler;
    return {};
  });
}

Result<std::uint8_t> InterruptTable::allocate(InterruptHandler handler) {
  for (std::uint8_t vector = vectors::first_device; vector < vectors::timer; ++vector) {
    if (handlers_[vector].function == nullptr && claim(vector, handler).ok()) return vector;
  }
  return Error::of(ErrorCode::out_of_memory, "expected a free interrupt vector, found all claimed");
}

void InterruptTable::release(std::size_t vector) {
  if (vector < vector_count) claims_.with([&](Claims&) { handlers_[vector] = {}; });
}

bool InterruptTable::dispatch(arch::TrapFrame& frame) {
  const InterruptHandler handler = frame.vector < vector_count ? handlers_[frame.vector] : InterruptHandler{};
  if (handler.function == nullptr) return false;
  handler.function(handler.context, frame);
  return true;
}

}  // namespace ingot::os
