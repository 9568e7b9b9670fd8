#include "model/grammar/regular_expression_parser.h"

#include <map>
#include <optional>
#include <utility>

#include "model/grammar/code_points.h"
#include "model/tokenizer/pattern_cursor.h"

namespace ingot::grammar {

namespace {

using Range = CodePointSet::Range;

constexpr std::size_t longest_pattern = 64u << 10;
constexpr int deepest_nesting = 64;
constexpr std::uint32_t largest_count = 100'000;

CodePointSet digits() { return CodePointSet({{'0', '9'}}); }
CodePointSet word_characters() { return CodePointSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}); }
CodePointSet spaces() {
  return CodePointSet({{'\t', '\r'},
                       {' ', ' '},
                       {0xa0, 0xa0},
                       {0x1680, 0x1680},
                       {0x2000, 0x200a},
                       {0x2028, 0x2029},
                       {0x202f, 0x202f},
                       {0x205f, 0x205f},
                       {0x3000, 0x3000},
                       {0xfeff, 0xfeff}});
}
CodePointSet line_ends() { return CodePointSet({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}); }

class RegularParser : PatternCursor {
 public:
  RegularParser(std::string_view text, Budget& budget) : PatternCursor(text), budget_(budget) {}

  Result<RegularNode> parse() {
    for (std::size_t position = 0; position < text_.size();) {
      const DecodedCharacter character = decode_utf8(text_, position);
      if (!character.is_valid) return fail("UTF-8");
      position += character.size;
    }
    RegularNode node = TRY(parse_alternatives(0));
    if (!at_end()) return fail("the end of the pattern or '|'");
    return node;
  }

 private:
  static RegularNode one_of(CodePointSet set) { return {.kind = RegularKind::one_of, .set = std::move(set)}; }
  static RegularNode anchor(RegularKind kind) { return {.kind = kind, .has_anchor = true}; }
  static void add(RegularNode& parent, RegularNode child) {
    parent.has_anchor = parent.has_anchor || child.has_anchor;
    parent.children.push_back(std::move(child));
  }

  Result<RegularNode> parse_alternatives(int depth) {
    if (depth > deepest_nesting) return fail("at most 64 nested groups");
    RegularNode alternatives{.kind = RegularKind::alternatives};
    do {
      RegularNode sequence;
      while (!at_end() && !starts_with("|") && !starts_with(")")) {
        RegularNode item = TRY(parse_item(depth));
        TRY(budget_.spend(sizeof(RegularNode) + item.set.ranges().size() * sizeof(Range)));
        add(sequence, TRY(parse_count(std::move(item))));
      }
      add(alternatives, std::move(sequence));
    } while (take("|"));
    if (alternatives.children.size() > 1) return alternatives;
    RegularNode only = std::move(alternatives.children[0]);
    return only;
  }

  Result<RegularNode> parse_item(int depth) {
    if (take("(")) {
      if (take("?:") || !starts_with("?")) {
      } else if (starts_with("?<") && !starts_with("?<=") && !starts_with("?<!")) {
        const std::size_t end = text_.find('>', position_);
        if (end == std::string_view::npos) return fail("'>' after the name of a group");
        position_ = end + 1;
      } else {
        return fail("a group of kind ( (?: or (?<name>");
      }
      RegularNode group = TRY(parse_alternatives(depth + 1));
      if (!take(")")) return fail("')'");
      return group;
    }
    if (take("^")) return anchor(RegularKind::text_begin);
    if (take("$")) return anchor(RegularKind::text_end);
    if (take(".")) return one_of(line_ends().complement());
    if (take("[")) return one_of(TRY(parse_class()));
    if (starts_with("*") || starts_with("+") || starts_with("?")) return fail("something to repeat");
    if (!starts_with("\\")) {
      const CodePoint code = take_code();
      return one_of(CodePointSet({{code, code}}));
    }
    if (auto set = TRY(parse_set_escape())) return one_of(std::move(*set));
    const CodePoint code = TRY(parse_escape());
    return one_of(CodePointSet({{code, code}}));
  }

  Result<RegularNode> parse_count(RegularNode item) {
    std::uint32_t least = 0;
    std::uint32_t most = unbounded;
    const std::size_t begin = position_;
    if (take("*")) {
    } else if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (take("{")) {
      const auto bound = TRY(parse_number());
      // Some readers take such a brace for itself; a pattern that means that can escape it.
      if (!bound) return position_ = begin, fail("a count such as {2}, {1,3} or {2,}");
      least = most = *bound;
      if (take(",")) {
        const auto upper = TRY(parse_number());
        most = upper ? *upper : unbounded;
      }
      if (!take("}") || most < least) return fail("a count such as {2}, {1,3} or {2,}");
    } else {
      return item;
    }
    if (item.has_anchor) return fail("no count after an anchor");
    take("?");  // how much is tried first does not matter to what can match
    if (starts_with("?") || starts_with("*") || starts_with("+") || starts_with("{")) return fail("one count only");
    RegularNode node{.kind = RegularKind::repeat, .least = least, .most = most};
    add(node, std::move(item));
    return node;
  }

  Result<std::optional<std::uint32_t>> parse_number() {
    const std::size_t begin = position_;
    std::uint32_t number = 0;
    for (; !at_end() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
      number = number * 10 + static_cast<std::uint32_t>(text_[position_] - '0');
      if (number > largest_count) return fail("a count of at most 100000");
    }
    return position_ == begin ? std::optional<std::uint32_t>() : std::optional(number);
  }

  // After the bracket.
  Result<CodePointSet> parse_class() {
    const bool is_negated = take("^");
    std::vector<Range> ranges;
    CodePointSet set;
    while (!take("]")) {
      if (at_end()) return fail("']'");
      if (auto escaped = TRY(parse_set_escape())) {
        set = set.united(*escaped);
        TRY(budget_.look());
        continue;
      }
      const CodePoint first = TRY(parse_class_character());
      CodePoint last = first;
      if (starts_with("-") && !starts_with("-]")) {
        take("-");
        if (at_end()) return fail("the end of a range");
        if (TRY(parse_set_escape())) return fail("a range between two characters");
        last = TRY(parse_class_character());
        if (last < first) return fail("a range in ascending order");
      }
      ranges.push_back({first, last});
    }
    set = set.united(CodePointSet(std::move(ranges)));
    return is_negated ? set.complement() : std::move(set);
  }

  Result<CodePoint> parse_class_character() {
    if (take("\\b")) return CodePoint{'\b'};
    return starts_with("\\") ? parse_escape() : Result<CodePoint>(take_code());
  }

  // \d \w \s \p{...} and their negations; nothing where another escape, or none, stands here.
  Result<std::optional<CodePointSet>> parse_set_escape() {
    using Set = std::optional<CodePointSet>;
    if (take("\\d")) return Set(digits());
    if (take("\\D")) return Set(digits().complement());
    if (take("\\w")) return Set(word_characters());
    if (take("\\W")) return Set(word_characters().complement());
    if (take("\\s")) return Set(spaces());
    if (take("\\S")) return Set(spaces().complement());
    const bool is_negated = starts_with("\\P{");
    if (!is_negated && !starts_with("\\p{")) return Set();
    const std::size_t end = text_.find('}', position_);
    if (end == std::string_view::npos) return fail("'}'");
    std::string_view name = text_.substr(position_ + 3, end - position_ - 3);
    // \p{Letter} is spelled so by ECMAScript; the tables know the short names.
    if (name == "Letter") name = "L";
    if (name.starts_with("Script=")) name.remove_prefix(7);
    const auto [place, is_new] = properties_.try_emplace(name);
    if (is_new) place->second = CodePointSet::of_property(name);
    if (!place->second) return fail("a category or a script of Unicode");
    position_ = end + 1;
    TRY(budget_.look());
    return is_negated ? Set(place->second->complement()) : place->second;
  }

  Result<CodePoint> parse_escape() {
    const std::size_t begin = position_;
    take("\\");
    if (at_end()) return fail("a character after '\\'");
    const CodePoint code = take_code();
    switch (code) {
      case 'n': return CodePoint{'\n'};
      case 'r': return CodePoint{'\r'};
      case 't': return CodePoint{'\t'};
      case 'f': return CodePoint{'\f'};
      case 'v': return CodePoint{'\v'};
      case 'x': return parse_hexadecimal(2);
      case 'u': return parse_unicode();
      case '0': return CodePoint{0};
      case 'c': {
        const char letter = at_end() ? '\0' : static_cast<char>(text_[position_] | 0x20);
        if (letter < 'a' || letter > 'z') return fail("a letter after '\\c'");
        ++position_;
        return static_cast<CodePoint>(letter - 'a' + 1);
      }
      default: break;
    }
    const bool is_letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9');
    if (is_letter) return position_ = begin, fail("an escape that an automaton can follow");
    return code;
  }

  Result<CodePoint> parse_unicode() {
    if (take("{")) {
      const std::size_t end = text_.find('}', position_);
      if (end == std::string_view::npos || end == position_ || end - position_ > 6) return fail("a code point and '}'");
      const CodePoint code = TRY(parse_hexadecimal(end - position_));
      take("}");
      return code < code_point_limit ? Result<CodePoint>(code) : fail("a code point below 110000");
    }
    const CodePoint high = TRY(parse_hexadecimal(4));
    if (high < 0xd800 || high > 0xdbff || !starts_with("\\u")) return high;
    take("\\u");
    const CodePoint low = TRY(parse_hexadecimal(4));
    if (low < 0xdc00 || low > 0xdfff) return fail("the second half of a pair of surrogates");
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }

  Result<CodePoint> parse_hexadecimal(std::size_t digit_count) {
    CodePoint code = 0;
    for (std::size_t count = 0; count < digit_count; ++count, ++position_) {
      const std::optional<CodePoint> digit = hexadecimal_digit(at_end() ? '\0' : text_[position_]);
      if (!digit) return fail("a hexadecimal digit");
      code = code * 16 + *digit;
    }
    return code;
  }

  Budget& budget_;
  std::map<std::string_view, std::optional<CodePointSet>> properties_;  // each is a walk through all of Unicode
};

}  // namespace

Result<RegularNode> parse_regular_expression(std::string_view pattern, Budget& budget) {
  if (pattern.size() > longest_pattern) {
    return Error::of(ErrorCode::out_of_range, "expected a pattern of at most ", longest_pattern,
                     " bytes, found one of ", pattern.size());
  }
  return RegularParser(pattern, budget).parse();
}

}  // namespace ingot::grammar
