// The program's terminal: what is written arrives at the serial port, and what arrives there is read, in lines and raw.
// The port is looped back by the modem register, so that it hears what it says.
//
// boot-test: success
// boot-test: qemu -serial null
// boot-test: expect terminal: wrote 6 bytes
// boot-test: expect terminal: read "a line\n"
// boot-test: expect terminal: read raw "xyz"
// boot-test: expect terminal: told of an interrupt
#include <string_view>

#include "os/boot/kernel.h"
#include "os/device/terminal.h"
#include "os/schedule/sleep.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic("terminal: ", result.error());
  return std::move(result).value();
}

constexpr std::uint16_t modem_control = 0x3fc;
constexpr std::uint8_t loop_back = 0x10 | 0x0b;

void sleep_for(Kernel& kernel, Nanoseconds time) { sleep_thread_until(kernel.now() + time); }

struct Ear final : TerminalListener {
  void terminal_signal(TerminalSignal signal) override { heard = signal; }
  TerminalSignal heard = TerminalSignal::none;
};

std::size_t write(Terminal& terminal, std::string_view text) {
  KernelTransfer transfer(std::as_bytes(std::span(text)));
  Answer<std::size_t> written = terminal.write(transfer);
  if (!written.ok()) panic("terminal: expected to write, found ", name_of(written.error()));
  return written.value();
}

// Waits until the terminal has something to read.
void read(Kernel& kernel, Terminal& terminal, std::string_view what) {
  for (int tries = 0; (terminal.poll() & poll_event::readable) == 0; ++tries) {
    if (tries == 1000) panic("terminal: expected ", what, ", found nothing to read");
    sleep_for(kernel, Nanoseconds(1'000'000));
  }
  std::byte bytes[64];
  KernelTransfer transfer(bytes);
  Answer<std::size_t> count = terminal.read(transfer);
  if (!count.ok()) panic("terminal: expected to read, found ", name_of(count.error()));
  std::string_view text(reinterpret_cast<const char*>(bytes), count.value());
  const bool is_line = text.ends_with('\n');
  if (is_line) text.remove_suffix(1);
  kernel.log.information("terminal: read ", what, "\"", text, is_line ? "\\n\"" : "\"");
}

void set(Terminal& terminal, TerminalSettings settings) {
  KernelTransferMemory memory;
  constexpr std::uint32_t set_settings = 0x5402;
  if (!terminal.control(set_settings, reinterpret_cast<std::uintptr_t>(&settings), memory).ok()) panic("terminal: set");
}

}  // namespace

void run_payload(Kernel& kernel) {
  Ear ear;
  Owned<Terminal> owner = require(make_owned<Terminal>(kernel.memory->heap(), kernel));
  Terminal& terminal = *owner;
  require(terminal.start());
  terminal.set_listener(&ear);
  kernel.log.information("terminal: wrote ", write(terminal, "hello\n"), " bytes");

  TerminalSettings quiet;  // what is heard must not be said again, forever
  quiet.local &= ~terminal_local::echo;
  set(terminal, quiet);
  arch::write_port_8(modem_control, loop_back);
  write(terminal,
        "wrong\x15"
        "a line\n");
  read(kernel, terminal, "");
  quiet.local &= ~terminal_local::lines;
  set(terminal, quiet);
  KernelTransferMemory memory;
  static_cast<void>(terminal.control(0x540b, 0, memory));  // TCFLSH: the newline that came after the carriage return
  write(terminal, "xyz");
  sleep_for(kernel, Nanoseconds(10'000'000));
  read(kernel, terminal, "raw ");
  write(terminal, "\x03");
  for (int tries = 0; ear.heard == TerminalSignal::none && tries < 1000; ++tries) {
    sleep_for(kernel, Nanoseconds(1'000'000));
  }
  if (ear.heard == TerminalSignal::interrupt) kernel.log.information("terminal: told of an interrupt");
  terminal.set_listener(nullptr);
}

}  // namespace ingot::os
