// Names of answers and requests that nobody else has.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// The kind ("chatcmpl-") and sixteen hexadecimal digits.
std::string answer_id(std::string_view kind);

}  // namespace ingot
