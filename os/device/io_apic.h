// The I/O APIC: takes the lines of devices and sends each as a vector to a CPU (Intel 82093AA). A machine may have
// several, one after the other in the numbering of lines.
#pragma once

#include <cstdint>

#include "os/device/registers.h"
#include "os/interrupt/interrupt_controller.h"
#include "os/schedule/locked.h"

namespace ingot::os {

class IoApic {
 public:
  // All its lines are masked from now on. `first_line` is the machine's number of its first input.
  IoApic(Registers& registers, std::uint32_t first_line);

  bool has(std::uint32_t line) const { return line >= first_line_ && line - first_line_ < line_count_; }
  std::uint32_t line_count() const { return line_count_; }

  // Precondition of all: has(line). A routed line stays masked until it is unmasked.
  void route(const InterruptLine& line, std::uint8_t vector, std::uint8_t destination);
  void set_masked(std::uint32_t line, bool masked);

 private:
  // One register names which of the others a second one shows: the pair is used by one CPU at a time.
  struct Window {
    Registers& registers;
    std::uint32_t read(std::uint32_t index);
    void write(std::uint32_t index, std::uint32_t value);
  };

  Locked<Window, SharedWith::interrupts> window_;
  std::uint32_t first_line_;
  std::uint32_t line_count_ = 0;
};

}  // namespace ingot::os
