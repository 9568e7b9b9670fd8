#include "os/interrupt/interrupt_controller.h"

namespace ingot::os {

Result<std::uint8_t> InterruptController::connect(InterruptTable& table, const InterruptLine& line,
                                                  InterruptHandler handler, std::uint32_t cpu) {
  std::uint8_t vector = 0;
  if (const std::optional<std::uint8_t> fixed = fixed_vector(line)) {
    vector = *fixed;
    TRY(table.claim(vector, handler));
  } else {
    vector = TRY(table.allocate(handler));
  }
  if (Result<void> routed = route(line, vector, cpu); !routed.ok()) {
    table.release(vector);
    return routed.error();
  }
  unmask(line.number);
  return vector;
}

void InterruptController::disconnect(InterruptTable& table, const InterruptLine& line, std::uint8_t vector) {
  mask(line.number);
  table.release(vector);
}

Result<MessageInterrupt> InterruptController::connect_message(InterruptTable& table, InterruptHandler handler,
                                                              std::uint32_t cpu) {
  const std::uint8_t vector = TRY(table.allocate(handler));
  Result<InterruptMessage> found = message(vector, cpu);
  if (found.ok()) return MessageInterrupt{vector, found.value()};
  table.release(vector);
  return found.error();
}

}  // namespace ingot::os
