// SerialLine: the first serial port of a PC (a 16550 at COM1), as the terminal uses it: bytes both ways.
#pragma once

#include <cstdint>
#include <optional>

namespace ingot::os {

class SerialLine {
 public:
  static constexpr std::uint8_t isa_interrupt = 4;

  // 115200 baud, 8 bits. False where there is no such port.
  bool start();
  bool is_there() const { return is_there_; }
  // From now on bytes that arrive interrupt.
  void interrupt_on_receive();

  // No more interrupts, and nothing left to send.
  void stop();

  // None: nothing has arrived.
  std::optional<std::uint8_t> receive();
  // Whether send() would not wait. A port that is not there swallows everything.
  bool has_room();
  // Waits until there is room, which takes as long as sending a few bytes.
  void send(std::uint8_t byte);

 private:
  bool is_there_ = false;
  unsigned room_ = 0;  // bytes that the port surely takes
};

}  // namespace ingot::os
