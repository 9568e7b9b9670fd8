#include "model/chat/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "model/chat/utf8.h"

namespace ingot::chat {

namespace {

struct CodePointRange {
  std::uint32_t first, last;
};
// Every stride-th code point from first to last maps to itself plus the distance.
struct CaseRun {
  std::uint32_t first, last;
  std::int32_t stride, distance;
};
struct CaseText {
  std::uint32_t code_point;
  char32_t image[3];  // ends at the first 0
};

#include "model/chat/unicode_table.inc"

bool contains(std::span<const CodePointRange> ranges, char32_t code_point) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code_point,
                                      [](char32_t value, const CodePointRange& range) { return value < range.first; });
  return after != ranges.begin() && code_point <= std::prev(after)->last;
}

bool append_mapped(std::string& text, char32_t code_point, std::span<const CaseRun> runs,
                   std::span<const CaseText> texts) {
  const auto special = std::lower_bound(texts.begin(), texts.end(), code_point,
                                        [](const CaseText& row, char32_t value) { return row.code_point < value; });
  if (special != texts.end() && special->code_point == code_point) {
    for (char32_t part : special->image) {
      if (part != 0) append_code_point(text, part);
    }
    return true;
  }
  const auto after = std::upper_bound(runs.begin(), runs.end(), code_point,
                                      [](char32_t value, const CaseRun& run) { return value < run.first; });
  if (after == runs.begin()) return false;
  const CaseRun& run = *std::prev(after);
  if (code_point > run.last || (code_point - run.first) % static_cast<std::uint32_t>(run.stride) != 0) return false;
  append_code_point(text, static_cast<char32_t>(static_cast<std::int64_t>(code_point) + run.distance));
  return true;
}

void append_upper(std::string& text, char32_t code_point) {
  if (!append_mapped(text, code_point, upper_runs, upper_texts)) append_code_point(text, code_point);
}

void append_title(std::string& text, char32_t code_point) {
  if (!append_mapped(text, code_point, title_runs, title_texts)) append_upper(text, code_point);
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
  } else if (!append_mapped(text, code_point, lower_runs, lower_texts)) {
    append_code_point(text, code_point);
  }
}

template <class Append>
std::string map_each(std::string_view text, Append append) {
  const std::u32string whole = code_points_of(text);
  std::string mapped;
  mapped.reserve(text.size());
  for (std::size_t index = 0; index < whole.size(); ++index) append(mapped, whole, index);
  return mapped;
}

}  // namespace

bool is_alphabetic(char32_t code_point) { return contains(alphabetic_ranges, code_point); }
bool is_decimal(char32_t code_point) { return contains(decimal_ranges, code_point); }
bool is_digit(char32_t code_point) { return contains(digit_ranges, code_point); }
bool is_numeric(char32_t code_point) { return contains(numeric_ranges, code_point); }
bool is_printable(char32_t code_point) { return code_point < stray_byte && !contains(unprintable_ranges, code_point); }
bool is_lowercase(char32_t code_point) { return contains(lowercase_ranges, code_point); }
bool is_uppercase(char32_t code_point) { return contains(uppercase_ranges, code_point); }
bool is_titlecase(char32_t code_point) { return contains(titlecase_ranges, code_point); }

std::string uppercase(std::string_view text) {
  return map_each(
      text, [](std::string& out, std::u32string_view whole, std::size_t index) { append_upper(out, whole[index]); });
}

std::string lowercase(std::string_view text) { return map_each(text, append_lower); }

std::string casefold(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    const char32_t code_point = whole[index];
    if (append_mapped(out, code_point, fold_runs, fold_texts)) return;
    if (!append_mapped(out, code_point, lower_runs, lower_texts)) append_code_point(out, code_point);
  });
}

std::string swapcase(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    if (is_uppercase(whole[index])) {
      append_lower(out, whole, index);
    } else {
      append_upper(out, whole[index]);
    }
  });
}

std::string capitalize(std::string_view text) {
  return map_each(text, [](std::string& out, std::u32string_view whole, std::size_t index) {
    if (index == 0) {
      append_title(out, whole[index]);
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
      append_title(out, whole[index]);
    }
  });
}

}  // namespace ingot::chat
