#include "os/device/line_discipline.h"

#include <algorithm>

#include "base/utf8.h"

namespace ingot::os {

namespace {

constexpr std::uint8_t newline = '\n', carriage_return = '\r', backspace = '\b', tabulator = '\t';

constexpr bool is_control(std::uint8_t byte) { return byte < 0x20 || byte == 0x7f; }
constexpr bool is_of_a_word(std::uint8_t byte) {
  return byte >= 0x80 || byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

}  // namespace

void LineDiscipline::send(std::uint8_t byte, TerminalOutput& out) const {
  const auto does = [this](std::uint32_t flag) {
    return (settings_.output & terminal_output::process) != 0 && (settings_.output & flag) != 0;
  };
  if (byte == newline && does(terminal_output::newline_to_return_newline)) out.put(carriage_return);
  out.put(byte == carriage_return && does(terminal_output::return_to_newline) ? newline : byte);
}

bool LineDiscipline::is_shown_with_caret(std::uint8_t byte) const {
  return is_control(byte) && byte != tabulator && byte != newline && has(terminal_local::echo_control);
}

void LineDiscipline::show(std::uint8_t byte, TerminalOutput& out) const {
  if (is_shown_with_caret(byte)) {
    send('^', out);
    send(byte ^ 0x40, out);
  } else {
    send(byte, out);
  }
}

TerminalSignal LineDiscipline::signal_of(std::uint8_t byte) const {
  if (!has(terminal_local::signals)) return TerminalSignal::none;
  if (is(byte, terminal_character::interrupt)) return TerminalSignal::interrupt;
  if (is(byte, terminal_character::quit)) return TerminalSignal::quit;
  if (is(byte, terminal_character::suspend)) return TerminalSignal::suspend;
  return TerminalSignal::none;
}

bool LineDiscipline::ends_line(std::uint8_t byte) const {
  return byte == newline || is(byte, terminal_character::end_of_line) ||
         (has(terminal_local::extended) && is(byte, terminal_character::second_end_of_line));
}

TerminalSignal LineDiscipline::receive(std::uint8_t byte, TerminalOutput& echo) {
  if ((settings_.input & terminal_input::strip) != 0) byte &= 0x7f;
  const bool lines = has(terminal_local::lines);
  if (!literal_) {
    if ((settings_.input & terminal_input::flow) != 0) {
      if (is(byte, terminal_character::stop)) return stop(), TerminalSignal::none;
      if (is(byte, terminal_character::start)) return start(), TerminalSignal::none;
    }
    if (const TerminalSignal signal = signal_of(byte); signal != TerminalSignal::none) {
      if (!has(terminal_local::keep_on_signal)) forget_input();
      start();  // what the program says next shall be seen
      if (has(terminal_local::echo)) show(byte, echo);
      return signal;
    }
    if (byte == carriage_return && (settings_.input & terminal_input::ignore_return) != 0) return TerminalSignal::none;
    if (byte == carriage_return && (settings_.input & terminal_input::return_to_newline) != 0) {
      byte = newline;
    } else if (byte == newline && (settings_.input & terminal_input::newline_to_return) != 0) {
      byte = carriage_return;
    }
    if (lines && edit(byte, echo)) return TerminalSignal::none;
  }
  const bool ends = lines && !literal_ && ends_line(byte);
  literal_ = false;
  // The last place is for the end of the line: one that is too long can still be ended.
  if (last_ - first_ >= room - (lines && !ends ? 1 : 0)) return TerminalSignal::none;
  keep(byte);
  if (ends || !lines) end_line();
  if (!lines) ends_[(last_ - 1) % room] = false;
  const bool shows = has(terminal_local::echo) || (lines && byte == newline && has(terminal_local::echo_newline));
  if (shows) show(byte, echo);
  return TerminalSignal::none;
}

// Whether the byte was a command to the line's editor.
bool LineDiscipline::edit(std::uint8_t byte, TerminalOutput& out) {
  const bool extended = has(terminal_local::extended);
  if (is(byte, terminal_character::erase)) return erase(byte, out), true;
  if (is(byte, terminal_character::kill)) return erase_line(byte, out), true;
  if (is(byte, terminal_character::end_of_file)) {
    if (last_ - first_ == room) return true;
    keep(0);
    end_line();
    return true;
  }
  if (extended && is(byte, terminal_character::word_erase)) return erase_word(out), true;
  if (extended && is(byte, terminal_character::literal_next)) {
    literal_ = true;
    if (has(terminal_local::echo) && has(terminal_local::echo_control)) {
      out.put('^');
      out.put(backspace);
    }
    return true;
  }
  if (extended && is(byte, terminal_character::reprint)) {
    if (!has(terminal_local::echo)) return true;
    show(byte, out);
    send(newline, out);
    for (std::size_t position = ready_; position != last_; ++position) show(at(position), out);
    return true;
  }
  return false;
}

// The line's last character goes, from the screen as well.
void LineDiscipline::drop_last(TerminalOutput& out) {
  if ((settings_.input & terminal_input::utf8) != 0) {
    while (last_ - ready_ > 1 && continues_character(static_cast<char>(at(last_ - 1)))) --last_;
  }
  const std::uint8_t byte = at(--last_);
  if (!has(terminal_local::echo)) return;
  for (int columns = is_shown_with_caret(byte) ? 2 : 1; columns > 0; --columns) {
    for (const std::uint8_t step : {backspace, std::uint8_t{' '}, backspace}) out.put(step);
  }
}

void LineDiscipline::erase(std::uint8_t byte, TerminalOutput& out) {
  if (last_ == ready_) return;
  if (has(terminal_local::echo_erase) || !has(terminal_local::echo)) return drop_last(out);
  --last_;
  show(byte, out);
}

void LineDiscipline::erase_word(TerminalOutput& out) {
  while (last_ != ready_ && !is_of_a_word(at(last_ - 1))) drop_last(out);
  while (last_ != ready_ && is_of_a_word(at(last_ - 1))) drop_last(out);
}

void LineDiscipline::erase_line(std::uint8_t byte, TerminalOutput& out) {
  const bool erases =
      has(terminal_local::echo_kill) && has(terminal_local::echo_kill_erases) && has(terminal_local::echo_erase);
  if (erases || !has(terminal_local::echo)) {
    while (last_ != ready_) drop_last(out);
    return;
  }
  last_ = ready_;
  show(byte, out);
  if (has(terminal_local::echo_kill)) send(newline, out);
}

void LineDiscipline::keep(std::uint8_t byte) {
  ends_[last_ % room] = false;
  at(last_++) = byte;
}

void LineDiscipline::end_line() {
  ends_[(last_ - 1) % room] = true;
  ready_ = last_;
}

bool LineDiscipline::is_readable() const {
  if (has(terminal_local::lines)) return ready_ != first_;
  const std::size_t minimum =
      settings_.characters[terminal_character::time] == 0 ? settings_.characters[terminal_character::minimum] : 1;
  return last_ - first_ >= std::max<std::size_t>(minimum, 1);
}

std::size_t LineDiscipline::waiting() const { return ready_ - first_; }

std::optional<std::size_t> LineDiscipline::read(std::span<std::byte> to) {
  std::size_t done = 0;
  if (!has(terminal_local::lines)) {
    const std::size_t minimum = settings_.characters[terminal_character::minimum];
    const std::size_t available = last_ - first_;
    if (available < std::min(minimum, to.size()) ||
        (available == 0 && settings_.characters[terminal_character::time] != 0)) {
      return {};
    }
    for (; done < to.size() && first_ != last_; ++done) to[done] = std::byte{at(first_++)};
    ready_ = last_;
    return done;
  }
  if (ready_ == first_) return {};
  while (done < to.size() && first_ != ready_) {
    const bool end = is_end(first_);
    const std::uint8_t byte = at(first_++);
    if (end && byte == 0) return done;
    to[done++] = std::byte{byte};
    if (end) return done;
  }
  // An end of file behind bytes that were just read says only that they are the end of a line.
  if (first_ != ready_ && is_end(first_) && at(first_) == 0) ++first_;
  return done;
}

void LineDiscipline::set(const TerminalSettings& settings) {
  const bool had_lines = has(terminal_local::lines);
  settings_ = settings;
  const bool has_lines = has(terminal_local::lines);
  if ((settings.input & terminal_input::flow) == 0) start();
  if (had_lines == has_lines) return;
  literal_ = false;
  // What was typed before belongs to the reader that comes: as a line of its own, or byte by byte.
  if (last_ != first_) end_line();
}

void LineDiscipline::forget_input() {
  first_ = ready_ = last_;
  literal_ = false;
}

}  // namespace ingot::os
