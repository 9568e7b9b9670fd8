#include "cli/line_editor.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace ingot {
namespace {

// Keys arrive one by one and unechoed for as long as this lives.
class RawTerminal {
 public:
  RawTerminal() {
    if (tcgetattr(STDIN_FILENO, &saved_) != 0) return;
    termios raw = saved_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_raw_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  ~RawTerminal() {
    if (is_raw_) tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  bool is_raw() const { return is_raw_; }

 private:
  termios saved_{};
  bool is_raw_ = false;
};

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t before(const std::string& text, std::size_t at) {
  if (at == 0) return 0;
  do --at;
  while (at > 0 && continues_character(text[at]));
  return at;
}

std::size_t after(const std::string& text, std::size_t at) {
  if (at >= text.size()) return text.size();
  do ++at;
  while (at < text.size() && continues_character(text[at]));
  return at;
}

// What lies behind the escape code at `at`: "\x1b[", parameters, and a last byte from '@' on. Others are of two bytes.
std::size_t after_escape(std::string_view text, std::size_t at) {
  ++at;
  if (at < text.size() && text[at] == '[') {
    do ++at;
    while (at < text.size() && text[at] < '@');
  }
  return std::min(at + 1, text.size());
}

// Columns, counting a character as one: right for most scripts, one short for wide ones. Escape codes take none.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at = after_escape(text, at);
    } else {
      count += continues_character(text[at++]) ? 0 : 1;
    }
  }
  return count;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int next_byte() {
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) == 1 ? static_cast<unsigned char>(byte) : -1;
}

enum class Key : std::uint8_t { left, right, up, down, home, end, erase_after, other };

// What follows an escape character.
Key read_escape() {
  const int kind = next_byte();
  if (kind != '[' && kind != 'O') return Key::other;
  int code = next_byte();
  if (code >= '0' && code <= '9') {
    const int digit = code;
    while (code >= 0 && code != '~' && (code < 'A' || code > 'Z')) code = next_byte();
    return digit == '3'                   ? Key::erase_after
           : digit == '1' || digit == '7' ? Key::home
           : digit == '4' || digit == '8' ? Key::end
                                          : Key::other;
  }
  switch (code) {
    case 'A': return Key::up;
    case 'B': return Key::down;
    case 'C': return Key::right;
    case 'D': return Key::left;
    case 'H': return Key::home;
    case 'F': return Key::end;
    default: return Key::other;
  }
}

constexpr int control(char letter) { return letter & 0x1f; }

struct Line {
  std::string text;
  std::size_t cursor = 0;

  void replace(std::string with) {
    text = std::move(with);
    cursor = text.size();
  }
  void erase(std::size_t begin, std::size_t end) {
    text.erase(begin, end - begin);
    cursor = begin;
  }
  void erase_word() {
    std::size_t begin = cursor;
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    while (begin > 0 && text[begin - 1] != ' ') --begin;
    erase(begin, cursor);
  }

  // A long line shows the part around its cursor.
  void draw(const std::string& prompt) const {
    const std::size_t room =
        std::max<std::size_t>(terminal_width() - std::min(terminal_width() - 1, columns(prompt)), 2) - 1;
    std::size_t begin = 0;
    while (columns(std::string_view(text).substr(begin, cursor - begin)) > room) begin = after(text, begin);
    std::size_t end = begin;
    for (std::size_t shown = 0; shown < room && end < text.size(); ++shown) end = after(text, end);
    std::printf("\r%s%s\x1b[K", prompt.c_str(), text.substr(begin, end - begin).c_str());
    const std::size_t back = columns(std::string_view(text).substr(cursor, end - cursor));
    if (back > 0) std::printf("\x1b[%zuD", back);
    std::fflush(stdout);
  }
};

}  // namespace

std::optional<std::string> LineEditor::edit(const std::string& prompt) {
  Line line;
  std::size_t place = history_.size();  // which entry is shown; one past the last: the new line
  std::string unfinished;
  const auto show_entry = [&](std::size_t which) {
    if (which > history_.size()) return;
    if (place == history_.size()) unfinished = line.text;
    place = which;
    line.replace(place == history_.size() ? unfinished : history_[place]);
  };
  while (true) {
    line.draw(prompt);
    const int key = next_byte();
    if (key < 0 || (key == control('D') && line.text.empty())) return std::nullopt;
    if (key == '\r' || key == '\n') return line.text;
    if (key == control('C')) return "";
    if (key == control('A')) {
      line.cursor = 0;
    } else if (key == control('E')) {
      line.cursor = line.text.size();
    } else if (key == control('B')) {
      line.cursor = before(line.text, line.cursor);
    } else if (key == control('F')) {
      line.cursor = after(line.text, line.cursor);
    } else if (key == control('K')) {
      line.text.resize(line.cursor);
    } else if (key == control('U')) {
      line.erase(0, line.cursor);
    } else if (key == control('W')) {
      line.erase_word();
    } else if (key == control('D')) {
      line.erase(line.cursor, after(line.text, line.cursor));
    } else if (key == 127 || key == control('H')) {
      line.erase(before(line.text, line.cursor), line.cursor);
    } else if (key == control('P')) {
      if (place > 0) show_entry(place - 1);
    } else if (key == control('N')) {
      show_entry(place + 1);
    } else if (key == 27) {
      switch (read_escape()) {
        case Key::left: line.cursor = before(line.text, line.cursor); break;
        case Key::right: line.cursor = after(line.text, line.cursor); break;
        case Key::home: line.cursor = 0; break;
        case Key::end: line.cursor = line.text.size(); break;
        case Key::erase_after: line.erase(line.cursor, after(line.text, line.cursor)); break;
        case Key::up:
          if (place > 0) show_entry(place - 1);
          break;
        case Key::down: show_entry(place + 1); break;
        case Key::other: break;
      }
    } else if (key >= 32) {
      line.text.insert(line.cursor, 1, static_cast<char>(key));
      ++line.cursor;
    }
  }
}

std::optional<std::string> LineEditor::read_line(const std::string& prompt) {
  std::optional<std::string> line;
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
    const RawTerminal terminal;
    if (terminal.is_raw()) {
      line = edit(prompt);
      std::printf("\r\n");
      if (line && !line->empty() && (history_.empty() || history_.back() != *line)) history_.push_back(*line);
      return line;
    }
  }
  std::string text;
  if (!std::getline(std::cin, text)) return std::nullopt;
  return text;
}

}  // namespace ingot
