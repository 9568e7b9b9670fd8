#include "cli/key_terminal.h"

#include <unistd.h>

#include <cstdio>

namespace ingot {

KeyTerminal::KeyTerminal() {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &saved_) != 0) return;
  is_open_ = true;
  set(ControlC::interrupts);
  std::printf("\x1b[?2004h");  // pastes come between \x1b[200~ and \x1b[201~
  std::fflush(stdout);
}

KeyTerminal::~KeyTerminal() {
  if (!is_open_) return;
  std::printf("\x1b[?2004l");
  std::fflush(stdout);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_);
}

void KeyTerminal::set(ControlC meaning) {
  if (!is_open_) return;
  termios keys = saved_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  keys.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  // What else could end or stop the program would leave the terminal like this.
  keys.c_cc[VQUIT] = keys.c_cc[VSUSP] = _POSIX_VDISABLE;
  if (meaning == ControlC::is_a_key) keys.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
}

}  // namespace ingot
