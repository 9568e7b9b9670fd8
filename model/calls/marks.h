// Looking for marks in a text that is still coming.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::calls {

constexpr bool is_white_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

// Without white space at its ends.
std::string_view core_of(std::string_view mark);
// Of the core, up to its first white space: models write other white space than their templates.
std::string_view head_of(std::string_view mark);
// The white space at an end.
std::string_view white_space_before(std::string_view mark);
std::string_view white_space_behind(std::string_view mark);

// How many bytes at the text's end could be the beginning of the mark, but not all of it.
std::size_t held_at_end(std::string_view text, std::string_view mark);

enum class Match : std::uint8_t { no, partial, yes };
struct Matched {
  Match match;
  std::size_t size = 0;  // of the text that it took
};
// Whether the text begins with the mark, whatever white space stands before and inside of it. An empty core takes
// nothing.
Matched match_mark(std::string_view text, std::string_view mark);

// The first piece of a text that a comparison must not cut: a mark in angle or square brackets, or one byte.
std::string_view first_unit(std::string_view text);

}  // namespace ingot::calls
