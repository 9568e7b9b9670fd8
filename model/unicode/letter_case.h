// Upper, lower, title case and folding of code points, by Unicode's mappings that hold in every language.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/utf8.h"

namespace ingot {

// What a code point becomes: one to three of them.
struct CaseMapping {
  std::array<CodePoint, 3> code_points{};
  std::size_t size = 1;

  const CodePoint* begin() const { return code_points.data(); }
  const CodePoint* end() const { return code_points.data() + size; }
};

// The full mappings. A code point without one, and what is none at all, stays itself.
CaseMapping lowered(CodePoint code);
CaseMapping uppered(CodePoint code);
CaseMapping titled(CodePoint code);
CaseMapping folded(CodePoint code);

// The simple mapping; U+0130 alone has a longer one.
CodePoint lowercase_of(CodePoint code);
// Every code point that equals this one when case is ignored, itself among them.
std::vector<CodePoint> case_variants(CodePoint code);

}  // namespace ingot
