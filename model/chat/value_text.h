// What printing a value gives: Python's str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

Result<std::string> text_of(const Value& value, Runtime& runtime);
Result<MarkedText> marked_text_of(const Value& value, Runtime& runtime);
Result<std::string> representation_of(const Value& value, Runtime& runtime);

// The shortest digits that read back as the same number: 1.0, 0.1, 1e+16, inf.
std::string float_text(double value);
// In quotes, with what cannot be printed escaped.
std::string in_quotes(std::string_view text);
// At least `width` of them.
std::string hexadecimal(std::uint64_t value, int width);

}  // namespace ingot::chat
