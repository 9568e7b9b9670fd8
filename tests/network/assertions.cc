#include "tests/network/assertions.h"

#include <array>

namespace ingot::network_scripts {
namespace {

constexpr int deepest_parentheses = 32;

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}
bool is_numeral(char character) { return character >= '0' && character <= '9'; }

class Evaluator {
 public:
  Evaluator(std::string_view text, Variables& variables, const Lookup& lookup)
      : text_(text), variables_(variables), lookup_(lookup) {}

  Result<void> statement();

 private:
  void skip_spaces() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t')) text_.remove_prefix(1);
  }
  bool takes(std::string_view sign) {
    skip_spaces();
    return text_.starts_with(sign) && (text_.remove_prefix(sign.size()), true);
  }
  bool takes_word(std::string_view word) {
    skip_spaces();
    if (!text_.starts_with(word) || (text_.size() > word.size() && is_letter(text_[word.size()]))) return false;
    return text_.remove_prefix(word.size()), true;
  }
  Error unknown() const { return Error::of(ErrorCode::unsupported, "Python: ", text_.substr(0, 40)); }
  std::string name();
  Result<std::int64_t> any();
  Result<std::int64_t> all();
  Result<std::int64_t> comparison();
  Result<std::int64_t> bits();
  Result<std::int64_t> sum();
  Result<std::int64_t> atom();

  std::string_view text_;
  Variables& variables_;
  const Lookup& lookup_;
  int depth_ = 0;
};

std::string Evaluator::name() {
  skip_spaces();
  std::size_t length = 0;
  while (length < text_.size() && (is_letter(text_[length]) || (length > 0 && is_numeral(text_[length])))) ++length;
  const std::string found(text_.substr(0, length));
  text_.remove_prefix(length);
  return found;
}

Result<std::int64_t> Evaluator::atom() {
  if (depth_ > deepest_parentheses) return unknown();
  if (takes("(")) {
    ++depth_;
    const std::int64_t value = TRY(any());
    --depth_;
    if (!takes(")")) return unknown();
    return value;
  }
  if (takes_word("not")) {
    ++depth_;
    const std::int64_t value = TRY(comparison());
    --depth_;
    return value == 0;
  }
  skip_spaces();
  std::int64_t value = 0;
  std::size_t length = 0;
  for (; length < text_.size() && is_numeral(text_[length]); ++length) {
    if (length > 17) return unknown();
    value = value * 10 + (text_[length] - '0');
  }
  if (length > 0) return text_.remove_prefix(length), value;
  const std::string found = name();
  if (found.empty()) return unknown();
  if (const auto variable = variables_.find(found); variable != variables_.end()) return variable->second;
  return lookup_(found);
}

Result<std::int64_t> Evaluator::sum() {
  std::int64_t value = TRY(atom());
  while (true) {
    const bool adds = takes("+");
    if (!adds && !takes("-")) return value;
    const std::int64_t right = TRY(atom());
    if (adds ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value)) {
      return unknown();
    }
  }
}

Result<std::int64_t> Evaluator::bits() {
  std::int64_t value = TRY(sum());
  while (takes("|")) value |= TRY(sum());
  return value;
}

// a < b <= c holds where all its parts do.
Result<std::int64_t> Evaluator::comparison() {
  std::int64_t left = TRY(bits());
  bool holds = true, is_compared = false;
  while (true) {
    constexpr std::array<std::string_view, 6> signs = {"==", "!=", "<=", ">=", "<", ">"};
    std::size_t sign = 0;
    while (sign < signs.size() && !takes(signs[sign])) ++sign;
    if (sign == signs.size()) return is_compared ? holds : left;
    const std::int64_t right = TRY(bits());
    const std::array<bool, 6> outcomes = {left == right, left != right, left <= right, left >= right,
                                          left<right, left> right};
    holds = holds && outcomes[sign];
    is_compared = true;
    left = right;
  }
}

Result<std::int64_t> Evaluator::all() {
  std::int64_t value = TRY(comparison());
  while (takes_word("and")) {
    const std::int64_t right = TRY(comparison());
    value = value != 0 ? right : value;
  }
  return value;
}

Result<std::int64_t> Evaluator::any() {
  std::int64_t value = TRY(all());
  while (takes_word("or")) {
    const std::int64_t right = TRY(all());
    value = value != 0 ? value : right;
  }
  return value;
}

Result<void> Evaluator::statement() {
  const std::string_view whole = text_;
  skip_spaces();
  if (text_.empty() || text_.starts_with("print")) return {};
  if (takes_word("assert")) {
    const std::int64_t value = TRY(any());
    skip_spaces();
    if (!text_.empty() && text_[0] != ',') return unknown();
    if (value == 0) {
      std::string shown;
      if (takes(",")) {
        if (const auto message = any(); message.ok()) shown = ": " + std::to_string(message.value());
      }
      return Error::of(ErrorCode::corrupt, "does not hold: ", whole, shown);
    }
    return {};
  }
  const std::string variable = name();
  const bool adds = takes("+=");
  if (variable.empty() || (!adds && !takes("="))) return unknown();
  std::int64_t value = TRY(any());
  if (adds && __builtin_add_overflow(value, variables_[variable], &value)) return unknown();
  variables_[variable] = value;
  skip_spaces();
  return text_.empty() ? Result<void>() : unknown();
}

}  // namespace

Result<void> run_assertions(std::string_view code, Variables& variables, const Lookup& lookup) {
  // Statements end with a line or a `;`; a comment and a line's continuation end with the line.
  while (!code.empty()) {
    std::size_t length = 0;
    char quote = '\0';
    for (; length < code.size(); ++length) {
      const char character = code[length];
      if (quote != '\0') {
        if (character == quote) quote = '\0';
      } else if (character == '\'' || character == '"') {
        quote = character;
      } else if (character == ';' || character == '\n' || character == '#' || character == '\\') {
        break;
      }
    }
    TRY(Evaluator(code.substr(0, length), variables, lookup).statement());
    if (length < code.size() && code[length] != ';') length = std::min(code.find('\n', length), code.size());
    code.remove_prefix(std::min(length + 1, code.size()));
  }
  return {};
}

}  // namespace ingot::network_scripts
