#include "model/tokenizer/code_point_set.h"
#include "model/unicode/letter_case.h"
#include "model/unicode/properties.h"

namespace ingot {

namespace {

template <class Predicate>
CodePointSet members_where(Predicate is_member) {
  std::vector<CodePointSet::Range> ranges;
  for (CodePoint code = 0; code < code_point_limit; ++code) {
    if (!is_member(code)) continue;
    if (!ranges.empty() && ranges.back().last + 1 == code) {
      ranges.back().last = code;
    } else {
      ranges.push_back({code, code});
    }
  }
  return CodePointSet(std::move(ranges));
}

constexpr std::string_view category_names = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";

}  // namespace

CodePointSet::CodePointSet(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& left, const Range& right) { return left.first < right.first; });
  for (const Range& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
  for (const Range& range : ranges_) {
    for (CodePoint code = range.first; code <= range.last && code < 128; ++code) {
      ascii_[code / 64] |= std::uint64_t{1} << (code % 64);
    }
  }
}

CodePointSet CodePointSet::of_categories(std::uint32_t bits) {
  std::vector<Range> ranges;
  using namespace unicode_tables;
  for (std::size_t range = 0; range < category_starts_size; ++range) {
    if ((bits >> (category_starts[range] & 31) & 1) == 0) continue;
    const CodePoint end = range + 1 < category_starts_size ? category_starts[range + 1] >> 5 : code_point_limit;
    ranges.push_back({category_starts[range] >> 5, end - 1});
  }
  return CodePointSet(std::move(ranges));
}

CodePointSet CodePointSet::white_space() {
  static const CodePointSet set = members_where(is_white_space);
  return set;
}

CodePointSet CodePointSet::word_characters() {
  static const CodePointSet set = members_where(is_word_character);
  return set;
}

std::optional<CodePointSet> CodePointSet::of_property(std::string_view name) {
  using namespace unicode_tables;
  const auto script = [](const Range* ranges, std::size_t count) {
    return CodePointSet(std::vector<Range>(ranges, ranges + count));
  };
  if (name == "Han") return script(han, han_size);
  if (name == "Hiragana") return script(hiragana, hiragana_size);
  if (name == "Katakana") return script(katakana, katakana_size);
  if (name == "Hangul") return script(hangul, hangul_size);
  if (name.empty() || name.size() > 2) return std::nullopt;
  std::uint32_t bits = 0;
  for (std::size_t index = 0; index * 2 < category_names.size(); ++index) {
    if (category_names.substr(index * 2, name.size()) == name) bits |= 1u << index;
  }
  if (bits == 0) return std::nullopt;
  return of_categories(bits);
}

CodePointSet CodePointSet::united(const CodePointSet& other) const {
  std::vector<Range> ranges = ranges_;
  ranges.insert(ranges.end(), other.ranges_.begin(), other.ranges_.end());
  return CodePointSet(std::move(ranges));
}

CodePointSet CodePointSet::complement() const {
  std::vector<Range> ranges;
  CodePoint next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) ranges.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < code_point_limit) ranges.push_back({next, code_point_limit - 1});
  return CodePointSet(std::move(ranges));
}

CodePointSet CodePointSet::intersected(const CodePointSet& other) const {
  return complement().united(other.complement()).complement();
}

CodePointSet CodePointSet::ignoring_case() const {
  std::vector<Range> ranges = ranges_;
  const CodePointSet cased = of_categories(category_bits(Category::lu, Category::lt));
  for (const Range& range : intersected(cased).ranges_) {
    for (CodePoint code = range.first; code <= range.last; ++code) {
      for (CodePoint variant : case_variants(code)) ranges.push_back({variant, variant});
    }
  }
  return CodePointSet(std::move(ranges));
}

}  // namespace ingot
