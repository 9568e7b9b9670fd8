// LineDiscipline: what a terminal does with bytes between the line and the program. Cooked: input is edited and comes
// in lines; raw: as it arrives. Pure logic, without locks; whoever owns it calls it for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "os/device/terminal_settings.h"

namespace ingot::os {

// Where echoes and a program's output go, as the line shall show them.
class TerminalOutput {
 public:
  virtual void put(std::uint8_t byte) = 0;

 protected:
  ~TerminalOutput() = default;
};

enum class TerminalSignal : std::uint8_t { none, interrupt, quit, suspend };

class LineDiscipline {
 public:
  static constexpr std::size_t room = 4096;

  // A byte came. What its program shall be told of it.
  TerminalSignal receive(std::uint8_t byte, TerminalOutput& echo);
  // A byte of the program on its way out.
  void send(std::uint8_t byte, TerminalOutput& out) const;

  // Up to the end of the line, or of `to`. None: nothing to read yet. 0: the end of the file, or in raw mode that the
  // program asked not to wait.
  std::optional<std::size_t> read(std::span<std::byte> to);
  // What a read of at least one byte would find at once.
  bool is_readable() const;
  // Bytes that a program could read.
  std::size_t waiting() const;
  bool is_stopped() const { return stopped_; }

  const TerminalSettings& settings() const { return settings_; }
  void set(const TerminalSettings& settings);
  void forget_input();
  void stop() { stopped_ = true; }
  void start() { stopped_ = false; }

 private:
  bool has(std::uint32_t local_flag) const { return (settings_.local & local_flag) != 0; }
  // A character that is 0 is switched off.
  bool is(std::uint8_t byte, std::size_t character) const {
    return settings_.characters[character] != 0 && settings_.characters[character] == byte;
  }
  TerminalSignal signal_of(std::uint8_t byte) const;
  bool ends_line(std::uint8_t byte) const;
  bool edit(std::uint8_t byte, TerminalOutput& out);
  void erase(std::uint8_t byte, TerminalOutput& out);
  void erase_word(TerminalOutput& out);
  void erase_line(std::uint8_t byte, TerminalOutput& out);
  void drop_last(TerminalOutput& out);
  void show(std::uint8_t byte, TerminalOutput& out) const;
  bool is_shown_with_caret(std::uint8_t byte) const;

  void keep(std::uint8_t byte);
  void end_line();
  std::uint8_t& at(std::size_t position) { return bytes_[position % room]; }
  std::uint8_t at(std::size_t position) const { return bytes_[position % room]; }
  bool is_end(std::size_t position) const { return ends_[position % room]; }

  TerminalSettings settings_;
  // Positions only grow; a ring keeps the bytes between first_ and last_. Up to ready_ a program may read them, the
  // rest is the line being edited. A mark says that a line ends with a byte; a marked 0 is an end of file.
  std::array<std::uint8_t, room> bytes_{};
  std::array<bool, room> ends_{};
  std::size_t first_ = 0, ready_ = 0, last_ = 0;
  bool literal_ = false;  // the next byte has no meaning
  bool stopped_ = false;
};

}  // namespace ingot::os
