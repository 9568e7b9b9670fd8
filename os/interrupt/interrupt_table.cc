#include "os/interrupt/interrupt_table.h"

namespace ingot::os {

Result<void> InterruptTable::claim(std::size_t vector, InterruptHandler handler) {
  if (vector >= vector_count || handler.function == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected a handler for a vector below ", vector_count,
                     ", found vector ", vector);
  }
  if (handlers_[vector].function != nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected a free interrupt vector, found a handler on vector ",
                     vector);
  }
  handlers_[vector] = handler;
  return {};
}

void InterruptTable::release(std::size_t vector) {
  if (vector < vector_count) handlers_[vector] = {};
}

bool InterruptTable::dispatch(arch::TrapFrame& frame) {
  const InterruptHandler handler = frame.vector < vector_count ? handlers_[frame.vector] : InterruptHandler{};
  if (handler.function == nullptr) {
    ++unclaimed_count_;
    return false;
  }
  handler.function(handler.context, frame);
  return true;
}

}  // namespace ingot::os
