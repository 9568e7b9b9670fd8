#include "os/device/debug_ports.h"

#include "os/arch/arch.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t debug_port = 0xe9;

// The registers of a 16550, and what is written to them once.
constexpr std::uint16_t com1 = 0x3f8, interrupt_enable = com1 + 1, fifo_control = com1 + 2, line_control = com1 + 3,
                        modem_control = com1 + 4, line_status = com1 + 5;

void write_serial(char character) {
  constexpr std::uint8_t transmitter_empty = 0x20;
  // A port that is not there, or stuck, must not stop a panic.
  for (int tries = 0; tries < 100'000; ++tries) {
    if ((arch::read_port_8(line_status) & transmitter_empty) != 0) break;
    arch::pause();
  }
  arch::write_port_8(com1, static_cast<std::uint8_t>(character));
}

}  // namespace

bool DebugPort::present() { return arch::read_port_8(debug_port) == debug_port; }

void DebugPort::write_line(std::string_view line) {
  for (char character : line) arch::write_port_8(debug_port, static_cast<std::uint8_t>(character));
  arch::write_port_8(debug_port, '\n');
}

void SerialPort::initialise() {
  arch::write_port_8(interrupt_enable, 0);
  arch::write_port_8(line_control, 0x80);   // the next two writes set the divisor
  arch::write_port_8(com1, 1);              // 115200 baud
  arch::write_port_8(interrupt_enable, 0);  // the divisor's upper half
  arch::write_port_8(line_control, 0x03);   // 8 bits, no parity, 1 stop bit
  arch::write_port_8(fifo_control, 0xc7);   // FIFOs on and empty
  arch::write_port_8(modem_control, 0x03);  // ready
}

void SerialPort::write_line(std::string_view line) {
  for (char character : line) write_serial(character);
  write_serial('\r');
  write_serial('\n');
}

}  // namespace ingot::os
