#include "model/chat/functions/text_wrap.h"

#include <algorithm>

#include "model/chat/template_text.h"
#include "model/chat/unicode.h"

namespace ingot::chat {

namespace {

bool is_blank(char32_t character) { return character == ' ' || (character >= 9 && character <= 13); }
bool is_letter(char32_t character) { return is_word_character(character) && !is_decimal(character); }

// After "well-" in "well-known": two letters before the hyphen, and letters that go on after it.
bool may_break_after(std::u32string_view text, std::size_t hyphen) {
  if (hyphen < 2 || !is_letter(text[hyphen - 1]) || !is_letter(text[hyphen - 2])) return false;
  if (hyphen + 1 >= text.size() || !is_letter(text[hyphen + 1])) return false;
  return hyphen + 2 < text.size() &&
         (is_letter(text[hyphen + 2]) || (text[hyphen + 2] == '-' && hyphen + 3 < text.size()));
}

// Blanks, words and the parts of hyphenated words, in turn.
std::vector<std::u32string_view> chunks_of(std::u32string_view text, bool breaks_on_hyphens) {
  std::vector<std::u32string_view> chunks;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = start + 1;
    if (is_blank(text[start])) {
      while (end < text.size() && is_blank(text[end])) ++end;
    } else {
      while (end < text.size() && !is_blank(text[end])) {
        if (breaks_on_hyphens && text[end - 1] == '-' && may_break_after(text, end - 1)) break;
        ++end;
      }
    }
    chunks.push_back(text.substr(start, end - start));
    start = end;
  }
  return chunks;
}

bool is_all_blank(std::u32string_view chunk) { return std::all_of(chunk.begin(), chunk.end(), is_space); }

}  // namespace

std::vector<std::string> wrap_line(std::string_view line, const WrapOptions& options) {
  const std::u32string text = code_points_of(line);
  std::vector<std::u32string_view> chunks = chunks_of(text, options.breaks_on_hyphens);
  std::reverse(chunks.begin(), chunks.end());
  const auto width = static_cast<std::size_t>(options.width);
  std::vector<std::string> lines;
  while (!chunks.empty()) {
    std::vector<std::u32string_view> current;
    std::size_t length = 0;
    if (!lines.empty() && is_all_blank(chunks.back())) chunks.pop_back();
    while (!chunks.empty() && length + chunks.back().size() <= width) {
      length += chunks.back().size();
      current.push_back(chunks.back());
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > width) {
      if (options.breaks_long_words) {
        const std::size_t room = std::max<std::size_t>(width - length, 1);
        current.push_back(chunks.back().substr(0, room));
        chunks.back().remove_prefix(room);
      } else if (current.empty()) {
        current.push_back(chunks.back());
        chunks.pop_back();
      }
    }
    if (!current.empty() && is_all_blank(current.back())) current.pop_back();
    if (current.empty()) continue;
    std::string joined;
    for (std::u32string_view chunk : current) joined += utf8_of(chunk);
    lines.push_back(std::move(joined));
  }
  return lines;
}

}  // namespace ingot::chat
