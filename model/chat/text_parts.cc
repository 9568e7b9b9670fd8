#include "model/chat/text_parts.h"

#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

bool is_line_break(char32_t code_point) {
  return (code_point >= 0x0A && code_point <= 0x0D) || (code_point >= 0x1C && code_point <= 0x1E) ||
         code_point == 0x85 || code_point == 0x2028 || code_point == 0x2029;
}

}  // namespace

std::string_view strip(std::string_view text, Side side) {
  if (side != Side::right) text = strip_left(text);
  if (side != Side::left) text = strip_right(text);
  return text;
}

std::string_view strip_characters(std::string_view text, std::string_view characters, Side side) {
  const std::u32string set = code_points_of(characters);
  const auto is_in_set = [&set](char32_t code_point) { return set.find(code_point) != std::u32string::npos; };
  std::size_t start = 0;
  if (side != Side::right) {
    while (start < text.size()) {
      const TextCharacter next = decode_code_point(text, start);
      if (!is_in_set(next.value)) break;
      start += next.bytes;
    }
    text.remove_prefix(start);
  }
  if (side == Side::left) return text;
  // Where the last character that stays ends.
  std::size_t end = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const TextCharacter next = decode_code_point(text, offset);
    offset += next.bytes;
    if (!is_in_set(next.value)) end = offset;
  }
  return text.substr(0, end);
}

Result<MarkedText> replace_all(const MarkedText& whole, std::string_view old_part, const MarkedText& new_part,
                               std::int64_t most, Runtime& runtime) {
  const std::string_view text = whole.bytes;
  TRY(runtime.budget.spend_search(text.size(), old_part.size()));
  MarkedText out;
  std::size_t offset = 0;
  const auto take = [&](std::string_view kept) -> Result<void> {
    TRY(runtime.budget.spend_bytes(kept.size() + new_part.bytes.size()));
    out.append_part(whole, kept);
    out.append(new_part);
    return {};
  };
  for (; most != 0; --most) {
    if (old_part.empty()) {
      // Nothing stands before every character and at the end.
      const std::size_t bytes = offset < text.size() ? decode_code_point(text, offset).bytes : 0;
      TRY(take({}));
      out.append_part(whole, text.substr(offset, bytes));
      offset += bytes;
      if (bytes == 0) break;
      continue;
    }
    const std::size_t found = text.find(old_part, offset);
    if (found == std::string_view::npos) break;
    TRY(take(text.substr(offset, found - offset)));
    offset = found + old_part.size();
  }
  out.append_part(whole, text.substr(offset));
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const TextCharacter next = decode_code_point(text, offset);
    const std::size_t end = offset;
    offset += next.bytes;
    if (!is_line_break(next.value)) continue;
    if (next.value == '\r' && offset < text.size() && text[offset] == '\n') ++offset;
    lines.push_back(text.substr(start, (keeps_ends ? offset : end) - start));
    start = offset;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

Result<MarkedText> join(const std::vector<Value>& items, const MarkedText& separator, Runtime& runtime) {
  MarkedText out;
  for (std::size_t index = 0; index < items.size(); ++index) {
    if (index > 0) {
      TRY(runtime.budget.spend_bytes(separator.bytes.size()));
      out.append(separator);
    }
    out.append(TRY(marked_text_of(items[index], runtime)));
  }
  return out;
}

}  // namespace ingot::chat
