// The terminal while a conversation goes on: keys arrive one by one and unechoed, and a pasted text arrives marked as
// one. What is typed during an answer waits for the next line, Ctrl-D included, which a terminal that collects lines
// would have taken for itself.
#pragma once

#include <termios.h>

#include <cstdint>

namespace ingot {

class KeyTerminal {
 public:
  KeyTerminal();
  ~KeyTerminal();
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  // False where standard input or output is no terminal: then nothing was changed.
  bool is_open() const { return is_open_; }

  enum class ControlC : std::uint8_t { is_a_key, interrupts };
  void set(ControlC meaning);

 private:
  termios saved_{};
  bool is_open_ = false;
};

}  // namespace ingot
