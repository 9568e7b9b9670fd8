// The formats of JSON Schema that are enforced.
#pragma once

#include <string>
#include <string_view>

namespace ingot::grammar {

// A regular expression for the whole of a text; empty for a format that is not known.
std::string pattern_of_format(std::string_view format);

}  // namespace ingot::grammar
