// A set of code points as sorted, disjoint ranges: what a character class of a pattern stands for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "model/unicode/properties.h"

namespace ingot {

class CodePointSet {
 public:
  using Range = unicode_tables::CodePointRange;
  using Ascii = std::array<std::uint64_t, 2>;  // a bit each

  static CodePointSet of_categories(std::uint32_t bits);
  static CodePointSet white_space();
  static CodePointSet word_characters();
  static CodePointSet all() { return CodePointSet({{0, code_point_limit - 1}}); }
  // A general category (Lu), a group of them (L) or a script (Han); nothing for a name nobody knows.
  static std::optional<CodePointSet> of_property(std::string_view name);

  CodePointSet() = default;
  explicit CodePointSet(std::vector<Range> ranges);

  bool contains(CodePoint code) const {
    if (code < 128) return (ascii_[code / 64] >> (code % 64) & 1) != 0;
    const auto range = std::lower_bound(ranges_.begin(), ranges_.end(), code,
                                        [](const Range& left, CodePoint right) { return left.last < right; });
    return range != ranges_.end() && range->first <= code;
  }

  CodePointSet united(const CodePointSet& other) const;
  CodePointSet intersected(const CodePointSet& other) const;
  CodePointSet complement() const;
  // With every code point that equals a member when case is ignored.
  CodePointSet ignoring_case() const;

  const std::vector<Range>& ranges() const { return ranges_; }
  const Ascii& ascii() const { return ascii_; }

 private:
  Ascii ascii_{};
  std::vector<Range> ranges_;
};

}  // namespace ingot
