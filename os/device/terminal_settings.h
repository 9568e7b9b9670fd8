// What a program can set of a terminal (termios), with the numbers of Linux.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ingot::os {

// As the kernel's interface has it: struct termios of TCGETS.
struct TerminalSettings {
  std::uint32_t input = 0x500;     // carriage return becomes newline; the stop and start characters work
  std::uint32_t output = 0x5;      // newlines get a carriage return
  std::uint32_t control = 0x18b2;  // 115200 baud, 8 bits, no modem
  std::uint32_t local = 0x8a3b;    // lines, with echo, editing and signals
  std::uint8_t discipline = 0;
  std::array<std::uint8_t, 19> characters = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22};
};
static_assert(sizeof(TerminalSettings) == 36);

// Of `characters`.
namespace terminal_character {
inline constexpr std::size_t interrupt = 0, quit = 1, erase = 2, kill = 3, end_of_file = 4, time = 5, minimum = 6,
                             start = 8, stop = 9, suspend = 10, end_of_line = 11, reprint = 12, word_erase = 14,
                             literal_next = 15, second_end_of_line = 16;
}  // namespace terminal_character

namespace terminal_input {
inline constexpr std::uint32_t strip = 0x20, newline_to_return = 0x40, ignore_return = 0x80, return_to_newline = 0x100,
                               flow = 0x400, utf8 = 0x4000;
}  // namespace terminal_input

namespace terminal_output {
inline constexpr std::uint32_t process = 1, newline_to_return_newline = 4, return_to_newline = 8;
}  // namespace terminal_output

namespace terminal_local {
inline constexpr std::uint32_t signals = 1, lines = 2, echo = 8, echo_erase = 0x10, echo_kill = 0x20,
                               echo_newline = 0x40, keep_on_signal = 0x80, echo_control = 0x200,
                               echo_kill_erases = 0x800, extended = 0x8000;
}  // namespace terminal_local

// struct winsize.
struct TerminalSize {
  std::uint16_t rows = 24, columns = 80, width = 0, height = 0;
};

}  // namespace ingot::os
