// Numbers and texts as Python writes them, in a template's source and in what `int` and `float` convert.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

// The number that `source` starts with, and its length in bytes; a length of 0 means there is none.
struct NumberLiteral {
  Value value;
  std::size_t length = 0;
};
// An attribute may be a number (x.0.1), so after a dot only whole numbers are read.
Result<NumberLiteral> read_number(std::string_view source, bool after_dot);

// What stands between the quotes, with its escapes resolved.
Result<std::string> unescape(std::string_view source);

// Python's int(text, base) and float(text); empty where it would refuse.
std::optional<std::int64_t> parse_integer(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);

}  // namespace ingot::chat
