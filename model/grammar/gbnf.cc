#include "model/grammar/gbnf.h"

#include <optional>
#include <string>
#include <unordered_map>

#include "model/files/quoted.h"
#include "model/grammar/code_points.h"

namespace ingot::grammar {

namespace {

constexpr int deepest_nesting = 64;
constexpr std::uint32_t largest_count = 1'000'000;

class GbnfParser {
 public:
  GbnfParser(std::string_view text, Expressions& expressions) : text_(text), expressions_(expressions) {}

  Result<ExpressionId> parse() {
    skip_space();
    while (!at_end()) {
      const std::string_view name = take_name();
      if (name.empty()) return fail("the name of a rule");
      const RuleId rule = rule_named(name);
      if (is_defined_[rule]) return fail_at(name, "one definition of each rule");
      skip_space();
      if (!take("::=")) return fail("'::='");
      skip_space();
      expressions_.define(rule, TRY(parse_alternatives(0)));
      is_defined_[rule] = true;
      TRY(expressions_.check());
    }
    for (RuleId rule = 0; rule < is_defined_.size(); ++rule) {
      if (is_defined_[rule]) continue;
      return Error::of(ErrorCode::not_found,
                       "grammar: expected a definition of every rule that is called, found none of ",
                       Quoted{expressions_.name_of(rule)});
    }
    const auto root = rules_.find("root");
    if (root == rules_.end()) {
      return Error::of(ErrorCode::not_found, "grammar: expected a rule with the name 'root', found none");
    }
    return expressions_.call(root->second);
  }

 private:
  bool at_end() const { return position_ == text_.size(); }
  bool starts_with(std::string_view prefix) const { return text_.substr(position_).starts_with(prefix); }
  bool take(std::string_view prefix) {
    if (!starts_with(prefix)) return false;
    position_ += prefix.size();
    return true;
  }
  Error fail(std::string_view expected) const { return fail_at(text_.substr(position_, 12), expected); }
  Error fail_at(std::string_view found, std::string_view expected) const {
    std::size_t line = 1;
    for (const char character : text_.substr(0, position_)) line += character == '\n' ? 1 : 0;
    return Error::of(ErrorCode::invalid_argument, "grammar, line ", line, ": expected ", expected, ", found ",
                     Quoted{found});
  }

  void skip_space() {
    while (!at_end()) {
      if (text_[position_] == '#') {
        while (!at_end() && text_[position_] != '\n') ++position_;
      } else if (std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
        ++position_;
      } else {
        return;
      }
    }
  }

  static bool is_name(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_';
  }
  std::string_view take_name() {
    const std::size_t begin = position_;
    while (!at_end() && is_name(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }
  // A name that is followed by ::= begins the next rule: where a line ends does not matter.
  bool at_next_rule() {
    const std::size_t begin = position_;
    const bool is_rule = !take_name().empty() && (skip_space(), starts_with("::="));
    position_ = begin;
    return is_rule;
  }

  RuleId rule_named(std::string_view name) {
    const auto [place, is_new] = rules_.try_emplace(std::string(name), 0);
    if (is_new) {
      place->second = expressions_.add_rule(std::string(name));
      is_defined_.resize(expressions_.rule_count(), false);
    }
    return place->second;
  }

  Result<ExpressionId> parse_alternatives(int depth) {
    if (depth > deepest_nesting) return fail("at most 64 nested groups");
    std::vector<ExpressionId> alternatives;
    do {
      skip_space();
      alternatives.push_back(TRY(parse_sequence(depth)));
    } while (take("|"));
    return expressions_.alternatives(alternatives);
  }

  Result<ExpressionId> parse_sequence(int depth) {
    std::vector<ExpressionId> items;
    while (!at_end() && !starts_with("|") && !starts_with(")") && !at_next_rule()) {
      ExpressionId item = TRY(parse_item(depth));
      skip_space();
      if (const auto bounds = TRY(parse_count())) {
        item = expressions_.repeat(item, bounds->first, bounds->second);
        skip_space();
        // Counts of counts are as deep as the text is long; those who mean them can write groups, which have a limit.
        if (at_count()) return fail("one count only");
      }
      items.push_back(item);
      TRY(expressions_.check());
    }
    return expressions_.sequence(items);
  }

  Result<ExpressionId> parse_item(int depth) {
    if (take("(")) {
      const ExpressionId group = TRY(parse_alternatives(depth + 1));
      if (!take(")")) return fail("')'");
      return group;
    }
    if (take("\"")) return parse_literal();
    if (take("[")) return parse_class();
    if (take(".")) return one_character(expressions_, CodePointSet::all(), Spelling::plain);
    const std::string_view name = take_name();
    if (name.empty()) return fail("a literal, a class, a group or the name of a rule");
    return expressions_.call(rule_named(name));
  }

  bool at_count() const { return starts_with("*") || starts_with("+") || starts_with("?") || starts_with("{"); }
  Result<std::optional<std::pair<std::uint32_t, std::uint32_t>>> parse_count() {
    using Bounds = std::optional<std::pair<std::uint32_t, std::uint32_t>>;
    if (take("*")) return Bounds({0, unbounded});
    if (take("+")) return Bounds({1, unbounded});
    if (take("?")) return Bounds({0, 1});
    if (!take("{")) return Bounds();
    const std::uint32_t least = TRY(parse_number());
    std::uint32_t most = least;
    if (take(",")) most = starts_with("}") ? unbounded : TRY(parse_number());
    if (!take("}") || most < least) return fail("a count such as {2}, {1,3} or {2,}");
    return Bounds({least, most});
  }

  Result<std::uint32_t> parse_number() {
    const std::size_t begin = position_;
    std::uint32_t number = 0;
    for (; !at_end() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
      number = number * 10 + static_cast<std::uint32_t>(text_[position_] - '0');
      if (number > largest_count) return fail("a count of at most 1000000");
    }
    if (position_ == begin) return fail("a count");
    return number;
  }

  Result<ExpressionId> parse_literal() {
    std::string literal;
    while (!take("\"")) {
      if (at_end()) return fail("'\"'");
      const std::size_t begin = position_;
      const CodePoint code = TRY(parse_character());
      const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
      if (is_surrogate) return position_ = begin, fail("a character, not half of a pair of surrogates");
      append_utf8(literal, code);
    }
    return expressions_.text(literal);
  }

  Result<ExpressionId> parse_class() {
    const bool is_negated = take("^");
    std::vector<CodePointSet::Range> ranges;
    while (!take("]")) {
      if (at_end()) return fail("']'");
      const CodePoint first = TRY(parse_character());
      CodePoint last = first;
      if (starts_with("-") && !starts_with("-]")) {
        take("-");
        if (at_end()) return fail("the end of a range");
        last = TRY(parse_character());
        if (last < first) return fail("a range in ascending order");
      }
      ranges.push_back({first, last});
    }
    const CodePointSet set(std::move(ranges));
    return one_character(expressions_, is_negated ? set.complement() : set, Spelling::plain);
  }

  // Precondition: not at the end.
  Result<CodePoint> parse_character() {
    if (!take("\\")) {
      const DecodedCharacter character = decode_utf8(text_, position_);
      if (!character.is_valid) return fail("UTF-8");
      position_ += character.size;
      return character.code;
    }
    if (at_end()) return fail("a character after '\\'");
    switch (text_[position_++]) {
      case 'x': return parse_hexadecimal(2);
      case 'u': return parse_hexadecimal(4);
      case 'U': return parse_hexadecimal(8);
      case 'n': return CodePoint{'\n'};
      case 'r': return CodePoint{'\r'};
      case 't': return CodePoint{'\t'};
      case '\\': return CodePoint{'\\'};
      case '"': return CodePoint{'"'};
      case '[': return CodePoint{'['};
      case ']': return CodePoint{']'};
      case '-': return CodePoint{'-'};
      case '^': return CodePoint{'^'};
      case '/': return CodePoint{'/'};
      default: --position_; return fail("an escape: one of x u U n r t \\ \" [ ] - ^ /");
    }
  }

  Result<CodePoint> parse_hexadecimal(std::size_t digits) {
    CodePoint code = 0;
    for (std::size_t count = 0; count < digits; ++count, ++position_) {
      const std::optional<CodePoint> digit = hexadecimal_digit(at_end() ? '\0' : text_[position_]);
      if (!digit) return fail("a hexadecimal digit");
      code = code * 16 + *digit;
    }
    if (code >= code_point_limit) return fail("a code point");
    return code;
  }

  const std::string_view text_;
  Expressions& expressions_;
  std::size_t position_ = 0;
  std::unordered_map<std::string, RuleId> rules_;
  std::vector<bool> is_defined_;
};

}  // namespace

Result<std::shared_ptr<const Grammar>> compile_gbnf(std::string_view text, const CompileLimits& limits) {
  Budget budget(limits);
  Expressions expressions(budget);
  const ExpressionId root = TRY(GbnfParser(text, expressions).parse());
  return compile(expressions, root);
}

}  // namespace ingot::grammar
