#include "model/grammar/regular_expression.h"

#include "model/files/quoted.h"
#include "model/grammar/regular_expression_parser.h"

namespace ingot::grammar {

namespace {

// Which ends of the text a part touches: there an anchor holds, and without one anything may stand beside the part.
struct Edges {
  bool is_first, is_last;
};

class RegularWriter {
 public:
  RegularWriter(Expressions& expressions, std::string_view pattern, Matching matching, Spelling spelling)
      : expressions_(expressions), pattern_(pattern), spelling_(spelling), beside_(expressions.empty()) {
    if (matching == Matching::whole) return;
    beside_ = expressions.repeat(one_character(expressions, CodePointSet::all(), spelling), 0, unbounded);
  }

  Result<ExpressionId> write(const RegularNode& node, Edges edges) {
    TRY(expressions_.check());
    if (node.kind == RegularKind::alternatives) {
      std::vector<ExpressionId> alternatives;
      for (const RegularNode& child : node.children) alternatives.push_back(TRY(write(child, edges)));
      return expressions_.alternatives(alternatives);
    }
    if (node.kind == RegularKind::sequence) return write_sequence(node.children, edges);
    return write_sequence(std::span(&node, 1), edges);
  }

 private:
  Result<ExpressionId> write_sequence(std::span<const RegularNode> items, Edges edges) {
    bool is_open_at_first = edges.is_first;
    bool is_open_at_last = edges.is_last;
    for (; edges.is_first && !items.empty() && items.front().kind == RegularKind::text_begin;
         items = items.subspan(1)) {
      is_open_at_first = false;
    }
    for (; edges.is_last && !items.empty() && items.back().kind == RegularKind::text_end;
         items = items.first(items.size() - 1)) {
      is_open_at_last = false;
    }
    std::vector<ExpressionId> parts;
    for (std::size_t index = 0; index < items.size(); ++index) {
      const RegularNode& item = items[index];
      if (!item.has_anchor) {
        parts.push_back(TRY(write_plain(item)));
        continue;
      }
      // A group with anchors of its own closes its side itself, or opens it.
      const Edges inner{is_open_at_first && index == 0, is_open_at_last && index + 1 == items.size()};
      const bool is_group = item.kind == RegularKind::alternatives || item.kind == RegularKind::sequence;
      if (!is_group || (!inner.is_first && !inner.is_last)) {
        return Error::of(ErrorCode::unsupported, "pattern ", Quoted{pattern_},
                         ": expected anchors at its beginning and its end only, found one inside");
      }
      if (inner.is_first) is_open_at_first = false;
      if (inner.is_last) is_open_at_last = false;
      parts.push_back(TRY(write(item, inner)));
    }
    if (is_open_at_first) parts.insert(parts.begin(), beside_);
    // What is empty and open at both sides is open once.
    if (is_open_at_last && !(is_open_at_first && items.empty())) parts.push_back(beside_);
    return expressions_.sequence(parts);
  }

  Result<ExpressionId> write_plain(const RegularNode& node) {
    switch (node.kind) {
      case RegularKind::one_of: {
        const ExpressionId character = one_character(expressions_, node.set, spelling_);
        TRY(expressions_.check());
        return character;
      }
      case RegularKind::repeat: {
        const ExpressionId child = TRY(write_plain(node.children[0]));
        return expressions_.repeat(child, node.least, node.most);
      }
      default: break;
    }
    std::vector<ExpressionId> children;
    for (const RegularNode& child : node.children) children.push_back(TRY(write_plain(child)));
    TRY(expressions_.check());
    return node.kind == RegularKind::sequence ? expressions_.sequence(children) : expressions_.alternatives(children);
  }

  Expressions& expressions_;
  std::string_view pattern_;
  Spelling spelling_;
  ExpressionId beside_;
};

}  // namespace

Result<ExpressionId> read_regular_expression(Expressions& expressions, std::string_view pattern, Matching matching,
                                             Spelling spelling) {
  const RegularNode node = TRY(parse_regular_expression(pattern, expressions.budget()));
  return RegularWriter(expressions, pattern, matching, spelling).write(node, {true, true});
}

Result<std::shared_ptr<const Grammar>> compile_regular_expression(std::string_view pattern,
                                                                  const CompileLimits& limits) {
  Budget budget(limits);
  Expressions expressions(budget);
  const ExpressionId root = TRY(read_regular_expression(expressions, pattern, Matching::whole, Spelling::plain));
  return compile(expressions, root);
}

}  // namespace ingot::grammar
