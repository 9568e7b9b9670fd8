#include "os/device/serial_line.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

// Registers of a 16550, and their bits (PC16550D data sheet, 8.0).
constexpr std::uint16_t com1 = 0x3f8, data = com1, interrupt_enable = com1 + 1, fifo_control = com1 + 2,
                        line_control = com1 + 3, modem_control = com1 + 4, line_status = com1 + 5, scratch = com1 + 7;
constexpr std::uint8_t byte_arrived = 1, transmitter_empty = 0x20, all_sent = 0x40, no_port = 0xff;
constexpr unsigned fifo_bytes = 16;

}  // namespace

bool SerialLine::start() {
  arch::write_port_8(scratch, 0x5a);
  if (arch::read_port_8(scratch) != 0x5a || arch::read_port_8(line_status) == no_port) return false;
  arch::write_port_8(interrupt_enable, 0);
  arch::write_port_8(line_control, 0x80);   // the next two writes set the divisor
  arch::write_port_8(data, 1);              // 115200 baud
  arch::write_port_8(interrupt_enable, 0);  // the divisor's upper half
  arch::write_port_8(line_control, 0x03);   // 8 bits, no parity, 1 stop bit
  arch::write_port_8(fifo_control, 0x07);   // FIFOs on and empty; each byte that arrives interrupts
  arch::write_port_8(modem_control, 0x0b);  // ready; the interrupt line is connected
  room_ = 0;
  return is_there_ = true;
}

void SerialLine::interrupt_on_receive() { arch::write_port_8(interrupt_enable, 1); }

void SerialLine::stop() {
  if (!is_there_) return;
  arch::write_port_8(interrupt_enable, 0);
  // A port that is stuck must not keep the machine on.
  for (int tries = 0; tries < 1'000'000 && (arch::read_port_8(line_status) & all_sent) == 0; ++tries) arch::pause();
}

std::optional<std::uint8_t> SerialLine::receive() {
  if (!is_there_ || (arch::read_port_8(line_status) & byte_arrived) == 0) return {};
  return arch::read_port_8(data);
}

// An empty transmitter takes as many bytes as its FIFO holds without being asked again.
bool SerialLine::has_room() {
  if (room_ == 0 && (arch::read_port_8(line_status) & transmitter_empty) != 0) room_ = fifo_bytes;
  return room_ != 0 || !is_there_;
}

void SerialLine::send(std::uint8_t byte) {
  while (!has_room()) arch::pause();
  if (!is_there_) return;
  --room_;
  arch::write_port_8(data, byte);
}

}  // namespace ingot::os
