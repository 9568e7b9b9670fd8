#include "server/http/message.h"

#include <algorithm>

namespace ingot::http {
namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool is_same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

}  // namespace

const std::string* Request::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const Header& one) { return is_same_name(one.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

}  // namespace ingot::http
