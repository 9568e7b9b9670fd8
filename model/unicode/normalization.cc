#include "model/unicode/normalization.h"

#include <algorithm>
#include <span>

#include "model/unicode/tables.h"

namespace ingot {

namespace {

using namespace unicode_tables;

// Hangul syllables are composed by arithmetic (section 3.12 of the standard).
constexpr CodePoint syllable_base = 0xac00, leading_base = 0x1100, vowel_base = 0x1161, trailing_base = 0x11a7;
constexpr CodePoint leading_count = 19, vowel_count = 21, trailing_count = 28;
constexpr CodePoint syllable_count = leading_count * vowel_count * trailing_count;

std::uint8_t combining_order(CodePoint code) {
  if (code < 0x300) return 0;
  const CombiningRange* end = combining_ranges + combining_ranges_size;
  const CombiningRange* range = std::lower_bound(
      combining_ranges, end, code, [](const CombiningRange& left, CodePoint right) { return left.last < right; });
  return range != end && code >= range->first ? range->order : 0;
}

// Recursion ends because a decomposition never contains a code point it came from (the table is Unicode's, not input).
void append_decomposition(CodePoint code, bool is_compatibility, std::vector<CodePoint>& output) {
  if (code < 0xa0) return output.push_back(code);
  if (code - syllable_base < syllable_count) {
    const CodePoint index = code - syllable_base;
    output.push_back(leading_base + index / (vowel_count * trailing_count));
    output.push_back(vowel_base + index / trailing_count % vowel_count);
    if (index % trailing_count != 0) output.push_back(trailing_base + index % trailing_count);
    return;
  }
  const std::uint32_t* end = decomposition_code_points + decomposition_code_points_size;
  const std::uint32_t* found = std::lower_bound(decomposition_code_points, end, code << 1);
  if (found == end || *found >> 1 != code || ((*found & 1) != 0 && !is_compatibility)) return output.push_back(code);
  const std::uint32_t* parts = decomposition_pool + decomposition_offsets[found - decomposition_code_points];
  const std::uint32_t count = parts[0] >> 24;
  append_decomposition(parts[0] & 0xffffff, is_compatibility, output);
  for (std::uint32_t part = 1; part < count; ++part) append_decomposition(parts[part], is_compatibility, output);
}

// Stable: marks of one class keep their order. The keys hold class, place and code point.
void order_marks(std::vector<CodePoint>& code_points) {
  std::vector<std::uint64_t> keys;
  for (std::size_t start = 0; start < code_points.size();) {
    keys.clear();
    for (std::size_t place = start; place < code_points.size(); ++place) {
      const std::uint64_t order = combining_order(code_points[place]);
      if (order == 0) break;
      keys.push_back(order << 56 | (place - start) << 24 | code_points[place]);
    }
    std::sort(keys.begin(), keys.end());
    for (std::uint64_t key : keys) code_points[start++] = static_cast<CodePoint>(key & 0xffffff);
    if (keys.empty()) ++start;
  }
}

CodePoint composed(CodePoint first, CodePoint second) {
  if (first - leading_base < leading_count && second - vowel_base < vowel_count) {
    return syllable_base + ((first - leading_base) * vowel_count + (second - vowel_base)) * trailing_count;
  }
  if (first - syllable_base < syllable_count && (first - syllable_base) % trailing_count == 0 &&
      second - trailing_base - 1 < trailing_count - 1) {
    return first + (second - trailing_base);
  }
  const Composition* end = compositions + compositions_size;
  const Composition* found = std::lower_bound(
      compositions, end, std::pair(first, second),
      [](const Composition& left, const auto& right) { return std::pair(left.first, left.second) < right; });
  return found != end && found->first == first && found->second == second ? found->composed : 0;
}

void compose(std::vector<CodePoint>& code_points) {
  std::size_t length = 0;
  std::size_t starter = code_points.size();  // none yet
  int last_order = -1;                       // of what was kept since the starter
  for (CodePoint code : code_points) {
    const int order = combining_order(code);
    if (starter < code_points.size() && last_order < order) {
      if (const CodePoint whole = composed(code_points[starter], code); whole != 0) {
        code_points[starter] = whole;
        continue;
      }
    }
    if (order == 0) {
      starter = length;
      last_order = -1;
    } else {
      last_order = order;
    }
    code_points[length++] = code;
  }
  code_points.resize(length);
}

}  // namespace

std::vector<CodePoint> normalized(const std::vector<CodePoint>& code_points, NormalizationForm form) {
  const bool is_compatibility = form == NormalizationForm::nfkc || form == NormalizationForm::nfkd;
  std::vector<CodePoint> output;
  output.reserve(code_points.size());
  for (CodePoint code : code_points) append_decomposition(code, is_compatibility, output);
  order_marks(output);
  if (form == NormalizationForm::nfc || form == NormalizationForm::nfkc) compose(output);
  return output;
}

std::string normalized(std::string_view text, NormalizationForm form) {
  std::string output;
  output.reserve(text.size());
  std::vector<CodePoint> valid;
  const auto flush = [&] {
    for (CodePoint code : normalized(valid, form)) append_utf8(output, code);
    valid.clear();
  };
  for (std::size_t position = 0; position < text.size();) {
    const DecodedCharacter character = decode_utf8(text, position);
    if (character.is_valid) {
      valid.push_back(character.code);
    } else {
      flush();
      output += text[position];
    }
    position += character.size;
  }
  flush();
  return output;
}

}  // namespace ingot
