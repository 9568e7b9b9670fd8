// InterruptController: how lines of devices, messages and other CPUs reach a vector of a CPU. A machine has one; the
// drivers of the hardware behind it are in os/device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "os/interrupt/interrupt_table.h"

namespace ingot::os {

enum class Polarity : std::uint8_t { as_the_bus, active_high, active_low };
enum class Trigger : std::uint8_t { as_the_bus, edge, level };

// An input of the controllers, by its number in the whole machine, and what its signal looks like.
struct InterruptLine {
  std::uint32_t number = 0;
  Polarity polarity = Polarity::active_high;
  Trigger trigger = Trigger::edge;

  bool operator==(const InterruptLine&) const = default;
};

// What a device writes where to interrupt a CPU without a line.
struct InterruptMessage {
  std::uint64_t address = 0;
  std::uint32_t data = 0;
};
struct MessageInterrupt {
  std::uint8_t vector = 0;
  InterruptMessage message;
};

class InterruptController {
 public:
  virtual std::string_view name() const = 0;

  // Lines. What the bus of old PCs calls interrupt `number` may arrive elsewhere.
  virtual InterruptLine isa_line(std::uint8_t number) const = 0;
  // The vector that a line always has; none: any will do.
  virtual std::optional<std::uint8_t> fixed_vector(const InterruptLine& line) const = 0;
  // From now on the line raises `vector` on `cpu`; it stays masked until unmask.
  virtual Result<void> route(const InterruptLine& line, std::uint8_t vector, std::uint32_t cpu) = 0;
  virtual void mask(std::uint32_t line) = 0;
  virtual void unmask(std::uint32_t line) = 0;
  virtual Result<InterruptMessage> message(std::uint8_t vector, std::uint32_t cpu) const = 0;

  // Other CPUs.
  virtual void send(std::uint32_t cpu, std::uint8_t vector) = 0;
  // All others halt, even those with interrupts off: they get the vector that cannot be masked.
  virtual void stop_others() = 0;

  // The end of each interrupt, told once, after its handler. Spurious ones were never begun and must not be ended.
  virtual bool is_spurious(std::uint64_t vector) = 0;
  virtual void end_of_interrupt(std::uint64_t vector) = 0;

  // A device's line to its handler, open at once. Returns the vector; disconnect gives it back.
  Result<std::uint8_t> connect(InterruptTable& table, const InterruptLine& line, InterruptHandler handler,
                               std::uint32_t cpu);
  void disconnect(InterruptTable& table, const InterruptLine& line, std::uint8_t vector);
  // A device's message to its handler. InterruptTable::release gives the vector back.
  Result<MessageInterrupt> connect_message(InterruptTable& table, InterruptHandler handler, std::uint32_t cpu);

 protected:
  ~InterruptController() = default;
};

}  // namespace ingot::os
