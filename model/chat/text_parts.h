// Taking texts apart and putting them together: what the methods and the filters of texts share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

enum class Side : std::uint8_t { left, right, both };

// Without the white space, or the characters given, at its ends.
std::string_view strip(std::string_view text, Side side);
std::string_view strip_characters(std::string_view text, std::string_view characters, Side side);

// At most `most` replacements; all of them where it is negative.
Result<MarkedText> replace_all(const MarkedText& text, std::string_view old_part, const MarkedText& new_part,
                               std::int64_t most, Runtime& runtime);

// Python's splitlines: at every kind of line break, and none after the last.
std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends = false);

// The separator between the items, which become texts.
Result<MarkedText> join(const std::vector<Value>& items, const MarkedText& separator, Runtime& runtime);

}  // namespace ingot::chat
