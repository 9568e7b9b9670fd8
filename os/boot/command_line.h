// The kernel's command line: words apart by blanks, each `name` or `name=value`. Of equal names the last one counts.
// Behind a word `--` stand the program's arguments (base/image/boot_arguments.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot::os {

// The value of an option; an option without '=' has an empty one.
constexpr std::optional<std::string_view> command_line_option(std::string_view line, std::string_view name) {
  std::optional<std::string_view> value;
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    const std::string_view word = line.substr(0, blank);
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
    if (word == "--") break;
    if (!word.starts_with(name)) continue;
    const std::string_view rest = word.substr(name.size());
    if (rest.empty()) value = rest;
    if (rest.starts_with('=')) value = rest.substr(1);
  }
  return value;
}

// The value of an option that is a number of at most nine digits; nothing where it is none.
constexpr std::optional<std::uint32_t> command_line_number(std::string_view line, std::string_view name) {
  const std::optional<std::string_view> digits = command_line_option(line, name);
  if (!digits || digits->empty() || digits->size() > 9) return {};
  std::uint32_t number = 0;
  for (const char digit : *digits) {
    if (digit < '0' || digit > '9') return {};
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

}  // namespace ingot::os
