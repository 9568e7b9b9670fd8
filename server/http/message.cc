#include "server/http/message.h"

#include <algorithm>

#include "server/http/letters.h"

namespace ingot::http {

const std::string* Request::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const Header& one) { return is_same_name(one.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

}  // namespace ingot::http
