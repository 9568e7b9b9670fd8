// One line of input, edited on the terminal: cursor keys, home and end, the usual control keys, and a history. A pasted
// text of several lines stays one. Where standard input is no terminal, lines are read as they come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/key_terminal.h"

namespace ingot {

class LineEditor {
 public:
  // Nothing at the end of the input (Ctrl-D on an empty line). Ctrl-C gives up the line: an empty text.
  std::optional<std::string> read_line(const std::string& prompt);
  bool is_on_terminal() const { return terminal_.is_open(); }

 private:
  std::optional<std::string> edit(const std::string& prompt);

  KeyTerminal terminal_;
  std::vector<std::string> history_;
};

}  // namespace ingot
