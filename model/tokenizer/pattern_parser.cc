#include "model/tokenizer/pattern_parser.h"

#include <utility>

#include "model/tokenizer/pattern_cursor.h"
#include "model/unicode/properties.h"

namespace ingot {

namespace {

using Kind = PatternNode::Kind;

constexpr int deepest_nesting = 32;
constexpr std::uint32_t largest_count = 1024;

class Parser : PatternCursor {
 public:
  explicit Parser(std::string_view text) : PatternCursor(text) {}

  Result<PatternNode> parse() {
    PatternNode node = TRY(parse_alternatives(false, 0));
    if (!at_end()) return fail("the end of the pattern or '|'");
    return node;
  }

 private:
  static PatternNode one_of(CodePointSet set) {
    PatternNode node;
    node.kind = Kind::one_of;
    node.set = std::move(set);
    return node;
  }
  static PatternNode assertion(PatternAssertion assertion) {
    PatternNode node;
    node.kind = Kind::assertion;
    node.assertion = assertion;
    return node;
  }
  static CodePointSet single(CodePoint code, bool ignore_case) {
    const CodePointSet set({{code, code}});
    return ignore_case ? set.ignoring_case() : set;
  }

  Result<PatternNode> parse_alternatives(bool ignore_case, int depth) {
    if (depth > deepest_nesting) return fail("at most 32 nested groups");
    PatternNode alternatives;
    alternatives.kind = Kind::alternatives;
    do {
      alternatives.children.push_back(TRY(parse_sequence(ignore_case, depth)));
    } while (take("|"));
    if (alternatives.children.size() > 1) return alternatives;
    PatternNode only = std::move(alternatives.children[0]);
    return only;
  }

  Result<PatternNode> parse_sequence(bool ignore_case, int depth) {
    PatternNode sequence;
    while (!at_end() && !starts_with("|") && !starts_with(")")) {
      PatternNode item = TRY(parse_item(ignore_case, depth));
      sequence.children.push_back(TRY(parse_quantifier(std::move(item))));
    }
    return sequence;
  }

  Result<PatternNode> parse_item(bool ignore_case, int depth) {
    if (take("(")) return parse_group(ignore_case, depth);
    if (starts_with("[")) return one_of(TRY(parse_class(ignore_case, depth)));
    if (take("^")) return assertion(PatternAssertion::line_begin);
    if (take("$")) return assertion(PatternAssertion::line_end);
    if (take(".")) return one_of(CodePointSet({{'\n', '\n'}}).complement());
    if (starts_with("*") || starts_with("+") || starts_with("?")) return fail("something to repeat");
    if (take("\\A")) return assertion(PatternAssertion::text_begin);
    if (take("\\z")) return assertion(PatternAssertion::text_end);
    if (take("\\b")) return assertion(PatternAssertion::word_boundary);
    if (starts_with("\\")) return one_of(TRY(parse_escape(ignore_case)));
    return one_of(single(take_code(), ignore_case));
  }

  Result<PatternNode> parse_group(bool ignore_case, int depth) {
    bool is_look_ahead = false;
    bool is_negated = false;
    if (take("?:")) {
    } else if (take("?i:")) {
      ignore_case = true;
    } else if (take("?=")) {
      is_look_ahead = true;
    } else if (take("?!")) {
      is_look_ahead = is_negated = true;
    } else if (starts_with("?")) {
      return fail("a group of kind (?: (?i: (?= or (?!");
    }
    PatternNode body = TRY(parse_alternatives(ignore_case, depth + 1));
    if (!take(")")) return fail("')'");
    if (!is_look_ahead) {
      if (body.kind != Kind::sequence || body.children.size() != 1) return body;
      PatternNode only = std::move(body.children[0]);
      return only;
    }
    PatternNode node;
    node.kind = Kind::look_ahead;
    node.is_negated = is_negated;
    node.children.push_back(std::move(body));
    return node;
  }

  Result<PatternNode> parse_quantifier(PatternNode item) {
    std::uint32_t least = 0;
    std::uint32_t most = PatternNode::unbounded;
    if (take("*")) {
    } else if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (take("{")) {
      least = TRY(parse_count());
      most = take(",") ? starts_with("}") ? PatternNode::unbounded : TRY(parse_count()) : least;
      if (!take("}") || most < least) return fail("a count such as {2}, {1,3} or {2,}");
    } else {
      return item;
    }
    if (item.kind == Kind::look_ahead || item.kind == Kind::assertion) return fail("no count after an assertion");
    PatternNode node;
    node.kind = Kind::repeat;
    node.least = least;
    node.most = most;
    if (take("+")) {
      if (item.kind != Kind::one_of) return fail("a possessive count after a single class only");
      node.is_possessive = true;
    }
    if (starts_with("?") || starts_with("*") || starts_with("+") || starts_with("{")) return fail("one count only");
    node.children.push_back(std::move(item));
    return node;
  }

  Result<std::uint32_t> parse_count() {
    std::uint32_t count = 0;
    const std::size_t begin = position_;
    while (!at_end() && text_[position_] >= '0' && text_[position_] <= '9') {
      count = count * 10 + static_cast<std::uint32_t>(text_[position_] - '0');
      if (count > largest_count) return fail("a count of at most 1024");
      ++position_;
    }
    if (position_ == begin) return fail("a count");
    return count;
  }

  Result<CodePointSet> parse_class(bool ignore_case, int depth) {
    if (depth > deepest_nesting) return fail("at most 32 nested classes");
    take("[");
    const bool is_negated = take("^");
    CodePointSet result = CodePointSet::all();
    std::vector<CodePointSet::Range> ranges;
    std::vector<CodePointSet> parts;
    const auto close_part = [&] {
      CodePointSet part(std::move(ranges));
      if (ignore_case) part = part.ignoring_case();
      for (const CodePointSet& other : parts) part = part.united(other);
      result = result.intersected(part);
      ranges.clear();
      parts.clear();
    };
    bool is_first = true;
    while (is_first || !starts_with("]")) {
      if (at_end()) return fail("']'");
      is_first = false;
      if (take("&&")) {
        close_part();
      } else if (starts_with("[")) {
        parts.push_back(TRY(parse_class(ignore_case, depth + 1)));
      } else if (is_set_escape()) {
        parts.push_back(TRY(parse_escape(ignore_case)));
      } else {
        ranges.push_back(TRY(parse_range()));
      }
    }
    close_part();
    take("]");
    return is_negated ? result.complement() : std::move(result);
  }

  Result<CodePointSet::Range> parse_range() {
    const CodePoint first = TRY(parse_class_character());
    // A '-' before the closing bracket is itself.
    if (!starts_with("-") || starts_with("-]")) return CodePointSet::Range{first, first};
    take("-");
    if (at_end()) return fail("the end of a range");
    const CodePoint last = TRY(parse_class_character());
    if (last < first) return fail("a range in ascending order");
    return CodePointSet::Range{first, last};
  }

  Result<CodePoint> parse_class_character() {
    if (!starts_with("\\")) return take_code();
    const CodePointSet set = TRY(parse_escape(false));
    return set.ranges().front().first;
  }

  // Whether an escape for more than one code point stands here.
  bool is_set_escape() const {
    return text_.size() - position_ > 1 && text_[position_] == '\\' &&
           std::string_view("sSdDwWpP").find(text_[position_ + 1]) != std::string_view::npos;
  }

  Result<CodePointSet> parse_escape(bool ignore_case) {
    take("\\");
    if (at_end()) return fail("a character after '\\'");
    const CodePoint code = take_code();
    switch (code) {
      case 'n': return CodePointSet({{'\n', '\n'}});
      case 'r': return CodePointSet({{'\r', '\r'}});
      case 't': return CodePointSet({{'\t', '\t'}});
      case 'f': return CodePointSet({{'\f', '\f'}});
      case 'v': return CodePointSet({{'\v', '\v'}});
      case 's': return CodePointSet::white_space();
      case 'S': return CodePointSet::white_space().complement();
      case 'd': return CodePointSet::of_categories(bit_of(Category::nd));
      case 'D': return CodePointSet::of_categories(bit_of(Category::nd)).complement();
      case 'w': return CodePointSet::word_characters();
      case 'W': return CodePointSet::word_characters().complement();
      case 'p': return parse_property(false);
      case 'P': return parse_property(true);
      case 'x': return parse_hexadecimal(take("{"), 2);
      case 'u': return parse_hexadecimal(false, 4);
      default: break;
    }
    if ((code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) {
      --position_;
      return fail("an escape of n r t f v s S d D w W p P x u or of a sign");
    }
    return single(code, ignore_case);
  }

  Result<CodePointSet> parse_property(bool is_negated) {
    if (!take("{")) return fail("'{'");
    if (take("^")) is_negated = !is_negated;
    const std::size_t end = text_.find('}', position_);
    if (end == std::string_view::npos) return fail("'}'");
    const std::optional<CodePointSet> set = CodePointSet::of_property(text_.substr(position_, end - position_));
    if (!set.has_value()) return fail("a general category, Han, Hiragana, Katakana or Hangul");
    position_ = end + 1;
    return is_negated ? set->complement() : *set;
  }

  Result<CodePointSet> parse_hexadecimal(bool is_braced, std::size_t digits) {
    CodePoint code = 0;
    std::size_t count = 0;
    for (; !at_end() && count < (is_braced ? 8 : digits); ++count, ++position_) {
      const char digit = text_[position_];
      const int value = digit >= '0' && digit <= '9'   ? digit - '0'
                        : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                        : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                       : -1;
      if (value < 0) break;
      code = code << 4 | static_cast<CodePoint>(value);
    }
    if (count == 0 || (!is_braced && count != digits) || code >= code_point_limit || (is_braced && !take("}"))) {
      return fail("the hexadecimal number of a code point");
    }
    return CodePointSet({{code, code}});
  }
};

}  // namespace

Result<PatternNode> parse_pattern(std::string_view text) { return Parser(text).parse(); }

}  // namespace ingot
