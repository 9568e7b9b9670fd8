#include "cli/line_editor.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/utf8.h"

namespace ingot {
namespace {

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

// What a pasted text holds until its end is marked. Terminals send a line's end as the key that makes one.
std::string read_paste() {
  constexpr std::string_view end_mark = "\x1b[201~";
  std::string text;
  for (int byte = next_byte(); byte >= 0; byte = next_byte()) {
    text += static_cast<char>(byte);
    if (!text.ends_with(end_mark)) continue;
    text.resize(text.size() - end_mark.size());
    break;
  }
  std::string lines;
  char before = '\0';
  for (const char byte : text) {
    if (byte != '\n' || before != '\r') lines += byte == '\r' ? '\n' : byte;
    before = byte;
  }
  return lines;
}

enum class Key : std::uint8_t { left, right, up, down, home, end, erase_after, paste, other };

// What follows an escape character.
Key read_escape() {
  const int kind = next_byte();
  if (kind != '[' && kind != 'O') return Key::other;
  int code = next_byte();
  if (code >= '0' && code <= '9') {
    int number = 0;
    for (; code >= '0' && code <= '9' && number < 1000; code = next_byte()) number = 10 * number + code - '0';
    while (code >= 0 && code != '~' && (code < 'A' || code > 'Z')) code = next_byte();
    switch (number) {
      case 1:
      case 7: return Key::home;
      case 4:
      case 8: return Key::end;
      case 3: return Key::erase_after;
      case 200: return Key::paste;
      default: return Key::other;
    }
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

// A line's end as a sign, other control characters as blanks: one column each, and harmless to the terminal.
std::string drawable(std::string_view text) {
  std::string drawn;
  for (const char byte : text) {
    if (byte == '\n') {
      drawn += "\u21b5";
    } else {
      drawn += static_cast<unsigned char>(byte) < ' ' ? ' ' : byte;
    }
  }
  return drawn;
}

struct Line {
  std::string text;
  std::size_t cursor = 0;

  void replace(std::string with) {
    text = std::move(with);
    cursor = text.size();
  }
  void insert(std::string_view more) {
    text.insert(cursor, more);
    cursor += more.size();
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
    std::printf("\r%s%s\x1b[K", prompt.c_str(), drawable(text.substr(begin, end - begin)).c_str());
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
        case Key::paste: line.insert(read_paste()); break;
        case Key::other: break;
      }
    } else if (key >= 32) {
      const char byte = static_cast<char>(key);
      line.insert({&byte, 1});
    }
  }
}

std::optional<std::string> LineEditor::read_line(const std::string& prompt) {
  if (terminal_.is_open()) {
    terminal_.set(KeyTerminal::ControlC::is_a_key);
    std::optional<std::string> line = edit(prompt);
    terminal_.set(KeyTerminal::ControlC::interrupts);
    std::printf("\r\n");
    if (line && !line->empty() && (history_.empty() || history_.back() != *line)) history_.push_back(*line);
    return line;
  }
  std::string text;
  if (!std::getline(std::cin, text)) return std::nullopt;
  return text;
}

}  // namespace ingot
