#include "model/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <memory>

namespace ingot {

namespace {

using namespace unicode_tables;

// Two stages: pages of equal content are stored once, so that the whole of Unicode takes some tens of KiB and a lookup
// takes two loads.
class CategoryMap {
 public:
  CategoryMap() {
    std::array<std::uint8_t, page_size> page{};
    std::size_t run = 0;
    for (CodePoint first = 0; first < code_point_limit; first += page_size) {
      for (CodePoint code = first; code < first + page_size; ++code) {
        while (run + 1 < category_starts_size && (category_starts[run + 1] >> 5) <= code) ++run;
        page[code - first] = category_starts[run] & 31;
      }
      auto found = std::find(pages_.begin(), pages_.end(), page);
      if (found == pages_.end()) found = pages_.insert(found, page);
      page_of_[first / page_size] = static_cast<std::uint16_t>(found - pages_.begin());
    }
  }

  Category operator[](CodePoint code) const {
    return static_cast<Category>(pages_[page_of_[code / page_size]][code % page_size]);
  }

 private:
  static constexpr std::size_t page_size = 128;
  std::array<std::uint16_t, code_point_limit / page_size> page_of_{};
  std::vector<std::array<std::uint8_t, page_size>> pages_;
};

}  // namespace

Category category_of(CodePoint code) {
  static const CategoryMap map;
  return code < code_point_limit ? map[code] : Category::cn;
}

bool is_white_space(CodePoint code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  if (code < 0x1680) return code == 0x85 || code == 0xa0;
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000;
}

bool is_word_character(CodePoint code) {
  constexpr std::uint32_t bits =
      letter_bits | mark_bits | bit_of(Category::nd) | bit_of(Category::nl) | bit_of(Category::pc);
  if (has_category(code, bits)) return true;
  // Circled and squared letters, which are alphabetic symbols, and Latin-1's superscripts and fractions: Oniguruma
  // counts them, and patterns are written for it.
  if (code < 0xbf) return code == 0xb2 || code == 0xb3 || code == 0xb9 || code >= 0xbc;
  return (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
         (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

CodePoint lowercase_of(CodePoint code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  const LowercaseRun* end = lowercase_runs + lowercase_runs_size;
  const LowercaseRun* run = std::lower_bound(
      lowercase_runs, end, code, [](const LowercaseRun& left, CodePoint right) { return left.last < right; });
  if (run == end || code < run->first || (code - run->first) % run->step != 0) return code;
  return static_cast<CodePoint>(static_cast<std::int64_t>(code) + run->distance);
}

std::vector<CodePoint> case_variants(CodePoint code) {
  const CodePoint lower = lowercase_of(code);
  std::vector<CodePoint> variants;
  variants.reserve(8);
  variants.push_back(code);
  if (lower != code) variants.push_back(lower);
  for (const LowercaseRun& run : std::span(lowercase_runs, lowercase_runs_size)) {
    const std::int64_t upper = static_cast<std::int64_t>(lower) - run.distance;
    if (upper < run.first || upper > run.last || (upper - run.first) % run.step != 0) continue;
    if (upper != code) variants.push_back(static_cast<CodePoint>(upper));
  }
  // The long s has no lower case but folds to s.
  if (lower == 's') variants.push_back(0x17f);
  if (code == 0x17f) {
    variants.push_back('s');
    variants.push_back('S');
  }
  return variants;
}

DecodedCharacter decode_utf8(std::string_view text, std::size_t position) {
  constexpr DecodedCharacter invalid{replacement_character, 1, false};
  const auto byte = [&](std::size_t offset) { return static_cast<std::uint8_t>(text[position + offset]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::uint8_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || position + size > text.size()) return invalid;
  CodePoint code = lead & (0x7fu >> size);
  for (std::size_t offset = 1; offset < size; ++offset) {
    if ((byte(offset) & 0xc0) != 0x80) return invalid;
    code = code << 6 | (byte(offset) & 0x3fu);
  }
  constexpr CodePoint least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code >= code_point_limit || (code >= 0xd800 && code <= 0xdfff)) return invalid;
  return {code, size, true};
}

void append_utf8(std::string& text, CodePoint code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t incomplete_sequence_size(std::string_view text, std::size_t position) {
  const auto lead = static_cast<std::uint8_t>(text[position]);
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const std::size_t present = text.size() - position;
  if (present >= size) return 0;
  // Completing with the highest, then the lowest tail tells whether any completion is valid.
  for (char filler : {'\xbf', '\x80'}) {
    std::string completed(text.substr(position, present));
    completed.append(size - present, filler);
    if (decode_utf8(completed, 0).is_valid) return size;
  }
  return 0;
}

}  // namespace ingot
