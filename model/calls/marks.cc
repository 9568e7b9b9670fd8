#include "model/calls/marks.h"

#include <algorithm>

namespace ingot::calls {

namespace {

constexpr std::string_view white_space = " \n\t\r";

}  // namespace

std::string_view core_of(std::string_view mark) {
  const std::size_t begin = mark.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return {};
  return mark.substr(begin, mark.find_last_not_of(white_space) + 1 - begin);
}

std::string_view head_of(std::string_view mark) {
  const std::string_view core = core_of(mark);
  return core.substr(0, core.find_first_of(white_space));
}

std::string_view white_space_before(std::string_view mark) {
  return mark.substr(0, std::min(mark.find_first_not_of(white_space), mark.size()));
}

std::string_view white_space_behind(std::string_view mark) {
  const std::size_t last = mark.find_last_not_of(white_space);
  return last == std::string_view::npos ? mark : mark.substr(last + 1);
}

std::size_t held_at_end(std::string_view text, std::string_view mark) {
  if (mark.empty()) return 0;
  for (std::size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size) {
    if (text.ends_with(mark.substr(0, size))) return size;
  }
  return 0;
}

Matched match_mark(std::string_view text, std::string_view mark) {
  const std::string_view core = core_of(mark);
  std::size_t at = 0;
  for (const char expected : core) {
    if (is_white_space(expected)) continue;
    while (at < text.size() && is_white_space(text[at])) ++at;
    if (at == text.size()) return {Match::partial};
    if (text[at] != expected) return {Match::no};
    ++at;
  }
  return {Match::yes, at};
}

std::string_view first_unit(std::string_view text) {
  if (text.empty()) return text;
  const char close = text[0] == '<' ? '>' : text[0] == '[' ? ']' : '\0';
  if (close == '\0') return text.substr(0, 1);
  const std::size_t end = text.find_first_of(text[0] == '<' ? "<>\n" : "[]\n\", {", 1);
  if (end == std::string_view::npos || text[end] != close || end == 1) return text.substr(0, 1);
  return text.substr(0, end + 1);
}

}  // namespace ingot::calls
