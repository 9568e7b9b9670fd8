#include "model/unicode/letter_case.h"

#include <algorithm>
#include <optional>
#include <span>

#include "model/unicode/tables.h"

namespace ingot {

namespace {

using namespace unicode_tables;

std::optional<CodePoint> find_in(std::span<const CaseRange> ranges, CodePoint code) {
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code,
                                      [](const CaseRange& left, CodePoint right) { return left.last < right; });
  if (range == ranges.end() || code < range->first || (code - range->first) % range->step != 0) return {};
  return static_cast<CodePoint>(static_cast<std::int64_t>(code) + range->distance);
}

std::optional<CaseMapping> find_in(std::span<const CaseRange> ranges, std::span<const CaseText> texts, CodePoint code) {
  const auto text = std::lower_bound(texts.begin(), texts.end(), code,
                                     [](const CaseText& left, CodePoint right) { return left.code < right; });
  if (text != texts.end() && text->code == code) {
    const auto* end = std::find(std::begin(text->text), std::end(text->text), 0u);
    return CaseMapping{std::to_array(text->text), static_cast<std::size_t>(end - text->text)};
  }
  const std::optional<CodePoint> single = find_in(ranges, code);
  if (!single) return {};
  return CaseMapping{{*single}};
}

}  // namespace

CaseMapping lowered(CodePoint code) {
  return find_in({lower_ranges, lower_ranges_size}, {lower_texts, lower_texts_size}, code)
      .value_or(CaseMapping{{code}});
}

CaseMapping uppered(CodePoint code) {
  return find_in({upper_ranges, upper_ranges_size}, {upper_texts, upper_texts_size}, code)
      .value_or(CaseMapping{{code}});
}

CaseMapping titled(CodePoint code) {
  const auto found = find_in({title_ranges, title_ranges_size}, {title_texts, title_texts_size}, code);
  return found ? *found : uppered(code);
}

CaseMapping folded(CodePoint code) {
  const auto found = find_in({fold_ranges, fold_ranges_size}, {fold_texts, fold_texts_size}, code);
  return found ? *found : lowered(code);
}

CodePoint lowercase_of(CodePoint code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  return find_in({lower_ranges, lower_ranges_size}, code).value_or(code);
}

std::vector<CodePoint> case_variants(CodePoint code) {
  const CodePoint lower = lowercase_of(code);
  std::vector<CodePoint> variants;
  variants.reserve(8);
  variants.push_back(code);
  if (lower != code) variants.push_back(lower);
  for (const CaseRange& range : std::span(lower_ranges, lower_ranges_size)) {
    const std::int64_t upper = static_cast<std::int64_t>(lower) - range.distance;
    if (upper < range.first || upper > range.last || (upper - range.first) % range.step != 0) continue;
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

}  // namespace ingot
