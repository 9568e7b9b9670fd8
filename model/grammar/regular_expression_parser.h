// The text of a regular expression as a tree.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/grammar/expression.h"
#include "model/tokenizer/code_point_set.h"

namespace ingot::grammar {

struct RegularNode {
  enum class Kind : std::uint8_t { one_of, sequence, alternatives, repeat, text_begin, text_end };

  Kind kind = Kind::sequence;
  CodePointSet set = {};                   // one_of
  std::vector<RegularNode> children = {};  // sequence, alternatives; repeat has one
  std::uint32_t least = 0, most = 0;       // repeat
  bool has_anchor = false;                 // itself or below
};

using RegularKind = RegularNode::Kind;

// Of at most 64 KiB. The tree is spent from the budget.
Result<RegularNode> parse_regular_expression(std::string_view pattern, Budget& budget);

}  // namespace ingot::grammar
