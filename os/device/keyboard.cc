#include "os/device/keyboard.h"

#include <optional>

namespace ingot::os {

namespace {

constexpr std::uint16_t keyboard_data = 0x60, keyboard_control = 0x64;  // reading the second gives the status
constexpr std::uint8_t output_full = 0x01, input_full = 0x02, from_mouse = 0x20;
// Bits of the 8042's configuration byte.
constexpr std::uint8_t interrupts_on = 0x01, translated = 0x40;

// A look takes about a microsecond; a keyboard may need some ten milliseconds.
Result<void> await_status(std::uint8_t bit, bool wanted) {
  for (int tries = 0; tries < 100'000; ++tries) {
    if (((arch::read_port_8(keyboard_control) & bit) != 0) == wanted) return {};
    arch::pause();
  }
  return Error::of(ErrorCode::unsupported, "expected a keyboard controller that ", wanted ? "answers" : "listens",
                   ", found status ", arch::read_port_8(keyboard_control));
}

Result<void> send_to(std::uint16_t port, std::uint8_t value) {
  TRY(await_status(input_full, false));
  arch::write_port_8(port, value);
  return {};
}

// Each command is answered by one byte.
Result<void> expect_answer(std::uint16_t port, std::uint8_t command, std::uint8_t wanted) {
  TRY(send_to(port, command));
  TRY(await_status(output_full, true));
  const std::uint8_t answer = arch::read_port_8(keyboard_data);
  if (answer == wanted) return {};
  return Error::of(ErrorCode::unsupported, "expected the answer ", wanted, " to keyboard command ", command, ", found ",
                   answer);
}

Result<void> configure(std::uint8_t configuration) {
  TRY(send_to(keyboard_control, 0x60));
  return send_to(keyboard_data, configuration);
}

}  // namespace

bool has_keyboard_controller(TableBytes fadt) {
  constexpr std::size_t revision_at = 8, boot_flags_at = 109;
  constexpr std::uint16_t controller_present = 2;
  if (number_or_zero<std::uint8_t>(fadt, revision_at) < 3) return true;
  return (number_or_zero<std::uint16_t>(fadt, boot_flags_at) & controller_present) != 0;
}

Result<void> Keyboard::initialise() {
  constexpr std::uint8_t disable_keyboard = 0xad, disable_mouse = 0xa7, enable_keyboard = 0xae;
  TRY(send_to(keyboard_control, disable_keyboard));
  TRY(send_to(keyboard_control, disable_mouse));
  for (int left = 0; left < 32 && (arch::read_port_8(keyboard_control) & output_full) != 0; ++left) {
    arch::read_port_8(keyboard_data);  // what came before
  }
  TRY(expect_answer(keyboard_control, 0xaa, 0x55));  // test of the controller: it may forget its configuration
  TRY(expect_answer(keyboard_control, 0xab, 0x00));  // test of the keyboard's wires
  TRY(configure(translated));
  TRY(send_to(keyboard_control, enable_keyboard));
  return expect_answer(keyboard_data, 0xf4, 0xfa);  // the keyboard itself: scan
}

Result<void> Keyboard::enable_interrupt() { return configure(translated | interrupts_on); }

void Keyboard::on_interrupt(void* context, arch::TrapFrame&) {
  auto& keyboard = *static_cast<Keyboard*>(context);
  // At most what a controller can hold: a stuck one must not keep the CPU.
  for (int count = 0; count < 16; ++count) {
    const std::uint8_t status = arch::read_port_8(keyboard_control);
    if ((status & output_full) == 0) return;
    std::uint8_t byte = arch::read_port_8(keyboard_data);
    if ((status & from_mouse) == 0) static_cast<void>(keyboard.bytes_.try_send(byte));
  }
}

Task<void> Keyboard::decode(Allocator&) {
  KeyDecoder decoder;
  while (true) {
    const Result<std::uint8_t> byte = co_await bytes_.receive();
    if (!byte.ok()) co_return byte.error();
    std::optional<KeyEvent> event = decoder.decode(byte.value());
    if (event) static_cast<void>(events_.try_send(*event));
  }
}

}  // namespace ingot::os
