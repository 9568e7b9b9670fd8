// %xx in targets: a byte by its two hexadecimal digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot::http {

// Nothing where a % is not followed by two such digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace ingot::http
