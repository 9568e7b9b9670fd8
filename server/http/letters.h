// Letters as HTTP compares them: ASCII, in whatever case.
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

}  // namespace ingot::http
