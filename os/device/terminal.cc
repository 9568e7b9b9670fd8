#include "os/device/terminal.h"

#include <algorithm>

#include "os/boot/kernel.h"
#include "os/device/terminal_file.h"
#include "os/file/control_requests.h"

namespace ingot::os {

namespace {

namespace request {
constexpr std::uint32_t get_settings = 0x5401, set_settings = 0x5402, set_settings_drained = 0x5403,
                        set_settings_flushed = 0x5404, send_break = 0x5409, flow = 0x540a, flush = 0x540b,
                        take_terminal = 0x540e, get_group = 0x540f, set_group = 0x5410, bytes_to_send = 0x5411,
                        get_size = 0x5413, set_size = 0x5414, get_session = 0x5429;
}  // namespace request

struct LineOutput final : TerminalOutput {
  explicit LineOutput(SerialLine& serial_line) : line(serial_line) {}
  void put(std::uint8_t byte) override { line.send(byte); }
  SerialLine& line;
};

}  // namespace

Result<void> Terminal::start() {
  const bool is_there = state_.with([](State& state) { return state.line.start(); });
  if (!is_there) return Error::of(ErrorCode::not_found, "expected a serial port at COM1, found none");
  InterruptController& controller = kernel_.controller();
  const InterruptLine line = controller.isa_line(SerialLine::isa_interrupt);
  vector_ = TRY(controller.connect(kernel_.interrupts, line, {&interrupted, this}, 0));
  state_.with([](State& state) { state.line.interrupt_on_receive(); });
  look();  // what came before raises no edge any more
  return {};
}

Terminal::~Terminal() {
  state_.with([](State& state) { state.line.stop(); });
  if (!vector_) return;
  InterruptController& controller = kernel_.controller();
  controller.disconnect(kernel_.interrupts, controller.isa_line(SerialLine::isa_interrupt), *vector_);
}

void Terminal::interrupted(void* terminal, arch::TrapFrame&) { static_cast<Terminal*>(terminal)->look(); }

void Terminal::look() {
  const bool changed = state_.with([](State& state) {
    bool any = false;
    LineOutput echo(state.line);
    while (const std::optional<std::uint8_t> byte = state.line.receive()) {
      any = true;
      const TerminalSignal signal = state.discipline.receive(*byte, echo);
      if (signal != TerminalSignal::none && state.listener != nullptr) state.listener->terminal_signal(signal);
    }
    return any;
  });
  if (changed) source_.notify(poll_event::readable | poll_event::writable);
}

void Terminal::set_listener(TerminalListener* listener) {
  state_.with([&](State& state) { state.listener = listener; });
}

Nanoseconds Terminal::now() const { return kernel_.now(); }

TerminalSettings Terminal::settings() {
  return state_.with([](State& state) { return state.discipline.settings(); });
}

void Terminal::set_settings(const TerminalSettings& settings, bool forget_input) {
  state_.with([&](State& state) {
    if (forget_input) state.discipline.forget_input();
    state.discipline.set(settings);
  });
  source_.notify(poll_event::readable | poll_event::writable);  // what is ready depends on them
}

std::uint32_t Terminal::poll() {
  if (must_look()) look();
  return state_.with([](State& state) {
    return (state.discipline.is_readable() ? poll_event::readable | poll_event::read_normal : 0) |
           (state.discipline.is_stopped() ? 0 : poll_event::writable | poll_event::write_normal);
  });
}

Answer<std::size_t> Terminal::read(Transfer& to) {
  const MutexGuard guard(reading_);
  if (must_look()) look();
  std::size_t done = 0;
  while (to.left() != 0) {
    std::byte part[256];
    const std::size_t wanted = std::min<std::uint64_t>(sizeof part, to.left());
    const std::optional<std::size_t> count =
        state_.with([&](State& state) { return state.discipline.read(std::span(part).first(wanted)); });
    if (!count && done == 0) return Errno::eagain;
    if (!count) break;
    const Answer<std::size_t> moved = to.give(std::span(part).first(*count));
    if (!moved.ok()) return done != 0 ? Answer<std::size_t>(done) : moved.error();
    done += moved.value();
    if (*count < wanted || part[*count - 1] == std::byte{'\n'}) break;  // the end of a line, or of what there is
  }
  return done;
}

Answer<std::size_t> Terminal::write(Transfer& from) {
  const MutexGuard guard(writing_);
  std::size_t done = 0;
  while (from.left() != 0) {
    if (state_.with([](State& state) { return state.discipline.is_stopped(); })) break;
    std::byte part[256];
    const Answer<std::size_t> moved = from.take(std::span(part).first(std::min<std::uint64_t>(256, from.left())));
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
    // The port's lock is held for as many bytes as it takes at once: keys are answered in between.
    for (std::size_t sent = 0; sent < moved.value();) {
      const std::size_t before = sent;
      state_.with([&](State& state) {
        LineOutput out(state.line);
        for (; sent < moved.value() && sent - before < 64 && state.line.has_room(); ++sent) {
          state.discipline.send(static_cast<std::uint8_t>(part[sent]), out);
        }
      });
      if (sent == before) current_scheduler().yield();
    }
    done += moved.value();
  }
  return done == 0 && from.left() != 0 ? Answer<std::size_t>(Errno::eagain) : done;
}

Answer<std::int64_t> Terminal::control(std::uint32_t wanted, std::uint64_t argument, TransferMemory& memory) {
  constexpr std::int32_t only_process = 1;
  constexpr std::int64_t done = 0;
  switch (wanted) {
    case request::get_settings: TRY(memory.write(argument, settings())); return done;
    case request::set_settings:
    case request::set_settings_drained:  // what was written has been sent already
    case request::set_settings_flushed:
      set_settings(TRY(memory.read<TerminalSettings>(argument)), wanted == request::set_settings_flushed);
      return done;
    case request::get_size:
      TRY(memory.write(argument, state_.with([](State& state) { return state.size; })));
      return done;
    case request::set_size: {
      const TerminalSize size = TRY(memory.read<TerminalSize>(argument));
      state_.with([&](State& state) { state.size = size; });
      return done;
    }
    case request::flow:
      if (argument > 3) return Errno::einval;
      state_.with([&](State& state) {
        if (argument == 0) state.discipline.stop();
        if (argument == 1) state.discipline.start();
      });
      source_.notify(poll_event::writable);
      return done;
    case request::flush:
      if (argument > 2) return Errno::einval;
      if (argument != 1) state_.with([](State& state) { state.discipline.forget_input(); });
      return done;
    case request::send_break:
    case request::take_terminal: return done;
    case request::get_group:
    case request::get_session: TRY(memory.write(argument, only_process)); return done;
    case request::set_group: TRY(memory.read<std::int32_t>(argument)); return done;
    case request::bytes_to_send: TRY(memory.write(argument, std::int32_t{0})); return done;
    case control_request::bytes_waiting:
      TRY(memory.write(
          argument, state_.with([](State& state) { return static_cast<std::int32_t>(state.discipline.waiting()); })));
      return done;
    default: return Errno::enotty;
  }
}

Answer<Reference<FileDescription>> Terminal::open(Node& node, std::uint32_t flags) {
  return Reference<FileDescription>(TRY(make_reference<TerminalFile>(node.volume().heap(), *this, node, flags)));
}

}  // namespace ingot::os
