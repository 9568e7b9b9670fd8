#include "os/arch/x86_64/debug_ports.h"

#include "os/arch/arch.h"
#include "os/arch/x86_64/port.h"

namespace ingot::os::arch {

namespace {

constexpr std::uint16_t debug_port = 0xe9;

// The registers of a 16550, and what is written to them once.
constexpr std::uint16_t com1 = 0x3f8, interrupt_enable = com1 + 1, fifo_control = com1 + 2, line_control = com1 + 3,
                        modem_control = com1 + 4, line_status = com1 + 5;

void write_serial(char character) {
  constexpr std::uint8_t transmitter_empty = 0x20;
  // A port that is not there, or stuck, must not stop a panic.
  for (int tries = 0; tries < 100'000; ++tries) {
    if ((read_port(line_status) & transmitter_empty) != 0) break;
    pause();
  }
  write_port(com1, static_cast<std::uint8_t>(character));
}

}  // namespace

bool DebugPort::present() { return read_port(debug_port) == debug_port; }

void DebugPort::write_line(std::string_view line) {
  for (char character : line) write_port(debug_port, static_cast<std::uint8_t>(character));
  write_port(debug_port, '\n');
}

void SerialPort::initialise() {
  write_port(interrupt_enable, 0);
  write_port(line_control, 0x80);   // the next two writes set the divisor
  write_port(com1, 1);              // 115200 baud
  write_port(interrupt_enable, 0);  // the divisor's upper half
  write_port(line_control, 0x03);   // 8 bits, no parity, 1 stop bit
  write_port(fifo_control, 0xc7);   // FIFOs on and empty
  write_port(modem_control, 0x03);  // ready
}

void SerialPort::write_line(std::string_view line) {
  for (char character : line) write_serial(character);
  write_serial('\r');
  write_serial('\n');
}

}  // namespace ingot::os::arch
