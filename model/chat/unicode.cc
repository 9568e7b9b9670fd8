#include "model/chat/unicode.h"

#include "model/chat/template_text.h"
#include "model/unicode/letter_case.h"

namespace ingot::chat {

namespace {

void append(std::string& text, const CaseMapping& mapping) {
  for (const CodePoint code : mapping) append_code_point(text, code);
}

// A capital sigma is a final one after a letter and before none; combining marks and the like do not count.
bool is_final_sigma(std::u32string_view text, std::size_t index) {
  const auto ignorable = [](char32_t code_point) {
    return code_point == '\'' || code_point == 0x2019 || code_point == 0xAD ||
           (code_point >= 0x300 && code_point < 0x370);
  };
  std::size_t before = index;
  while (before > 0 && ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = index + 1;
  while (after < text.size() && ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::string& text, std::u32string_view whole, std::size_t index) {
  const char32_t code_point = whole[index];
  if (code_point == 0x3A3) {
    append_code_point(text, is_final_sigma(whole, index) ? 0x3C2 : 0x3C3);
  } else {
    append(text, lowered(code_point));
  }
}

template <class Append>
std::string map_each(std::string_view text, Append append_one) {
  const std::u32string whole = code_points_of(text);
  std::string mapped;
  mapped.reserve(text.size());
  for (std::size_t index = 0; index < whole.size(); ++index) append_one(mapped, whole, index);
  return mapped;
}

}  // namespace

std::string uppercase(std::string_view text) {
  return map_each(
      text, [](std::string& out, std::u32string_view whole, std::size_t index) { append(out, uppered(whole[index])); });
}

std::string lowercase(std::string_view text) { return map_each(text, append_lower); }

std::string casefold(std::string_view text) {
  return map_each(
      text, [](std::string& out, std::u32string_view whole, std::size_t index) { append(out, folded(whole[index])); });
}

std::string swapcase(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    if (is_uppercase(whole[index])) {
      append_lower(out, whole, index);
    } else {
      append(out, uppered(whole[index]));
    }
  });
}

std::string capitalize(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    if (index == 0) {
      append(out, titled(whole[index]));
    } else {
      append_lower(out, whole, index);
    }
  });
}

std::string titlecase(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    if (index > 0 && is_cased(whole[index - 1])) {
      append_lower(out, whole, index);
    } else {
      append(out, titled(whole[index]));
    }
  });
}

}  // namespace ingot::chat
