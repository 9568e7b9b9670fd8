// Letters as HTTP knows and compares them: ASCII, in whatever case.
#pragma once

#include <algorithm>
#include <string_view>

namespace ingot::http {

constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool is_same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

// tchar of RFC 9110, section 5.6.2: what names of methods and headers are made of.
constexpr bool is_token_letter(char letter) {
  const char small = lower(letter);
  if ((small >= '0' && small <= '9') || (small >= 'a' && small <= 'z')) return true;
  return letter != 0 && std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

}  // namespace ingot::http
