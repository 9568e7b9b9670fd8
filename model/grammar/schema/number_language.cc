#include "model/grammar/schema/number_language.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <vector>

#include "model/grammar/determinize.h"
#include "model/grammar/expression.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::grammar {

namespace {

constexpr std::size_t most_digits = 400;
constexpr std::uint32_t largest_divisor = 4096;

std::string without_leading_zeros(const std::string& digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return digits.substr(first);
}

int compare_magnitudes(const Decimal& left, const Decimal& right) {
  if (left.whole.size() != right.whole.size()) return left.whole.size() < right.whole.size() ? -1 : 1;
  if (const int order = left.whole.compare(right.whole); order != 0) return order;
  return left.fraction.compare(right.fraction);
}

// Texts of numbers that are not negative: written as expressions, then intersected.
class Magnitudes {
 public:
  explicit Magnitudes(Budget& budget) : budget_(budget), expressions_(budget) {}

  Result<FiniteAutomaton> any(bool is_whole) {
    const ExpressionId whole =
        expressions_.alternatives({expressions_.text("0"), expressions_.sequence({digits('1', '9'), any_digits()})});
    return automaton(is_whole ? whole : expressions_.sequence({whole, any_fraction()}));
  }

  Result<FiniteAutomaton> at_least(const NumberBound& bound) {
    const std::string& whole = bound.value.whole;
    // More of the whole part, or the same and as much of the fraction.
    const ExpressionId more = expressions_.sequence({greater(whole), any_fraction()});
    const ExpressionId same = expressions_.sequence({expressions_.text(whole), fraction_at_least(bound)});
    return automaton(expressions_.alternatives({more, same}));
  }

  Result<FiniteAutomaton> at_most(const NumberBound& bound) {
    const std::string& whole = bound.value.whole;
    const ExpressionId less = expressions_.sequence({lesser(whole), any_fraction()});
    const ExpressionId same = expressions_.sequence({expressions_.text(whole), fraction_at_most(bound)});
    return automaton(expressions_.alternatives({less, same}));
  }

 private:
  ExpressionId digits(char first, char last) {
    if (first > last) return expressions_.never();
    return expressions_.bytes(ByteSet::of_range(static_cast<unsigned>(first), static_cast<unsigned>(last)));
  }
  ExpressionId any_digits() { return expressions_.repeat(digits('0', '9'), 0, unbounded); }
  ExpressionId some_digits(std::size_t count) {
    const auto times = static_cast<std::uint32_t>(count);
    return expressions_.repeat(digits('0', '9'), times, times);
  }
  ExpressionId any_fraction() {
    return expressions_.optional(
        expressions_.sequence({expressions_.text("."), expressions_.repeat(digits('0', '9'), 1, unbounded)}));
  }

  // Whole numbers above or below one: longer or shorter ones, and for each digit those that differ there first.
  ExpressionId greater(const std::string& whole) {
    std::vector<ExpressionId> alternatives{
        expressions_.sequence({digits('1', '9'), some_digits(whole.size()), any_digits()})};
    for (std::size_t index = 0; index < whole.size(); ++index) {
      alternatives.push_back(expressions_.sequence({expressions_.text(whole.substr(0, index)),
                                                    digits(static_cast<char>(whole[index] + 1), '9'),
                                                    some_digits(whole.size() - index - 1)}));
    }
    return expressions_.alternatives(alternatives);
  }
  ExpressionId lesser(const std::string& whole) {
    if (whole == "0") return expressions_.never();
    std::vector<ExpressionId> alternatives{expressions_.text("0")};
    if (whole.size() > 1) {
      alternatives.push_back(expressions_.sequence(
          {digits('1', '9'), expressions_.repeat(digits('0', '9'), 0, static_cast<std::uint32_t>(whole.size() - 2))}));
    }
    for (std::size_t index = 0; index < whole.size(); ++index) {
      alternatives.push_back(expressions_.sequence({expressions_.text(whole.substr(0, index)),
                                                    digits(index == 0 ? '1' : '0', static_cast<char>(whole[index] - 1)),
                                                    some_digits(whole.size() - index - 1)}));
    }
    return expressions_.alternatives(alternatives);
  }

  ExpressionId fraction_at_least(const NumberBound& bound) {
    const std::string& fraction = bound.value.fraction;
    std::vector<ExpressionId> alternatives;
    for (std::size_t index = 0; index < fraction.size(); ++index) {
      alternatives.push_back(
          expressions_.sequence({expressions_.text("." + fraction.substr(0, index)),
                                 digits(static_cast<char>(fraction[index] + 1), '9'), any_digits()}));
    }
    const ExpressionId same = fraction.empty() ? expressions_.empty() : expressions_.text("." + fraction);
    const ExpressionId point = fraction.empty() ? expressions_.text(".") : same;
    const ExpressionId above = expressions_.sequence({any_digits(), digits('1', '9'), any_digits()});
    if (bound.is_exclusive) {
      alternatives.push_back(expressions_.sequence({point, above}));
    } else {
      alternatives.push_back(fraction.empty() ? any_fraction() : expressions_.sequence({same, any_digits()}));
    }
    return expressions_.alternatives(alternatives);
  }
  ExpressionId fraction_at_most(const NumberBound& bound) {
    const std::string& fraction = bound.value.fraction;
    std::vector<ExpressionId> alternatives;
    // A fraction that ends where the bound's goes on is less: the bound's last digit is no zero.
    if (!fraction.empty()) alternatives.push_back(expressions_.empty());
    for (std::size_t index = 0; index < fraction.size(); ++index) {
      const std::string begin = "." + fraction.substr(0, index);
      alternatives.push_back(expressions_.sequence(
          {expressions_.text(begin), digits('0', static_cast<char>(fraction[index] - 1)), any_digits()}));
      if (index > 0) alternatives.push_back(expressions_.text(begin));
    }
    if (!bound.is_exclusive) {
      const ExpressionId zeros = expressions_.repeat(expressions_.text("0"), 0, unbounded);
      alternatives.push_back(fraction.empty()
                                 ? expressions_.optional(expressions_.sequence({expressions_.text(".0"), zeros}))
                                 : expressions_.sequence({expressions_.text("." + fraction), zeros}));
    }
    return expressions_.alternatives(alternatives);
  }

  Result<FiniteAutomaton> automaton(ExpressionId id) {
    auto grammar = compile(expressions_, id);
    // Nothing at all is a language here, not a mistake.
    if (!grammar.ok() && grammar.error().code() == ErrorCode::invalid_argument) return FiniteAutomaton();
    return determinize(TRY(std::move(grammar)), budget_);
  }

  Budget& budget_;
  Expressions expressions_;
};

// Digits whose number, times ten to the power of `places`, is a multiple: a state is the remainder so far and how many
// digits of the fraction were read.
Result<FiniteAutomaton> multiples(std::uint32_t divisor, std::size_t places, Budget& budget) {
  const auto accepts = [&](std::uint32_t remainder, std::size_t read) {
    for (std::size_t place = read; place < places; ++place) remainder = remainder * 10 % divisor;
    return remainder == 0;
  };
  // Groups of `divisor` states: nothing read yet (one state), the whole part, then digits of the fraction behind a
  // point.
  const auto state = [&](std::size_t group, std::uint32_t remainder) {
    return static_cast<std::uint32_t>(1 + group * divisor + remainder);
  };
  FiniteAutomaton result;
  std::vector<FiniteAutomaton::Edge> edges;
  const auto add_digits = [&](std::size_t group, std::uint32_t remainder) {
    for (std::uint32_t digit = 0; digit < 10; ++digit) {
      const auto label = static_cast<std::uint8_t>('0' + digit);
      edges.push_back({label, label, state(group, (remainder * 10 + digit) % divisor)});
    }
  };
  TRY(budget.spend((places + 2) * divisor * 11 * sizeof(FiniteAutomaton::Edge)));
  add_digits(0, 0);
  result.add_state(edges, false);
  for (std::size_t group = 0; group <= places + 1; ++group) {
    for (std::uint32_t remainder = 0; remainder < divisor; ++remainder) {
      edges.clear();
      // Group 0: the whole part. Group 1: just behind the point. Group 1 + n: n digits of the fraction.
      if (group == 0) {
        if (places > 0) edges.push_back({'.', '.', state(1, remainder)});
        add_digits(0, remainder);
      } else if (group <= places) {
        add_digits(group + 1, remainder);
      }
      const bool is_accepting = group == 0 ? accepts(remainder, 0) : group > 1 && accepts(remainder, group - 1);
      result.add_state(edges, is_accepting);
    }
  }
  return result;
}

// A minus sign in front.
FiniteAutomaton negated(const FiniteAutomaton& magnitudes) {
  FiniteAutomaton result;
  const FiniteAutomaton::Edge sign{'-', '-', 1};
  result.add_state(std::span(&sign, 1), false);
  for (std::uint32_t state = 0; state < magnitudes.state_count(); ++state) {
    std::vector<FiniteAutomaton::Edge> edges(magnitudes.edges(state).begin(), magnitudes.edges(state).end());
    for (auto& edge : edges) ++edge.target;
    result.add_state(edges, magnitudes.is_accepting(state));
  }
  return result;
}

// Both, where one begins with a sign and the other does not: a state in front of the two beginnings.
FiniteAutomaton joined(const FiniteAutomaton& positive, const FiniteAutomaton& negative) {
  if (positive.state_count() == 0) return negative;
  if (negative.state_count() == 0) return positive;
  FiniteAutomaton result;
  const auto moved = [](const FiniteAutomaton& automaton, std::uint32_t state, std::uint32_t by) {
    std::vector<FiniteAutomaton::Edge> edges(automaton.edges(state).begin(), automaton.edges(state).end());
    for (auto& edge : edges) edge.target += by;
    return edges;
  };
  const std::uint32_t after_positive = 1 + positive.state_count();
  std::vector<FiniteAutomaton::Edge> edges = moved(negative, 0, after_positive);
  const auto digits = moved(positive, 0, 1);
  edges.insert(edges.end(), digits.begin(), digits.end());
  result.add_state(edges, false);
  for (std::uint32_t state = 0; state < positive.state_count(); ++state) {
    result.add_state(moved(positive, state, 1), positive.is_accepting(state));
  }
  for (std::uint32_t state = 0; state < negative.state_count(); ++state) {
    result.add_state(moved(negative, state, after_positive), negative.is_accepting(state));
  }
  return result;
}

Result<FiniteAutomaton> magnitudes_between(const std::optional<NumberBound>& least,
                                           const std::optional<NumberBound>& most, const NumberLimits& limits,
                                           Budget& budget) {
  Magnitudes magnitudes(budget);
  FiniteAutomaton result = TRY(magnitudes.any(limits.is_whole));
  if (least) {
    const FiniteAutomaton bound = TRY(magnitudes.at_least(*least));
    result = TRY(intersect(result, bound, budget));
  }
  if (most) {
    const FiniteAutomaton bound = TRY(magnitudes.at_most(*most));
    result = TRY(intersect(result, bound, budget));
  }
  if (limits.multiple_of) {
    const Decimal& value = limits.multiple_of->value;
    const std::string digits = without_leading_zeros(value.whole + value.fraction);
    std::uint32_t divisor = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), divisor);
    const std::size_t places = value.fraction.size();
    if (digits.size() > 4 || divisor > largest_divisor || divisor == 0 || places > 12) {
      return error_at({nullptr, limits.multiple_of->pointer}, "multipleOf",
                      "a divisor of at most 4096 after its point was left out, and 12 places behind it");
    }
    const FiniteAutomaton divided = TRY(multiples(divisor, places, budget));
    result = TRY(intersect(result, divided, budget));
  }
  return result;
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  Decimal result;
  if (text.starts_with("-")) {
    result.is_negative = true;
    text.remove_prefix(1);
  }
  int exponent = 0;
  if (const std::size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with("+")) digits.remove_prefix(1);
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || std::abs(exponent) > static_cast<int>(most_digits)) return std::nullopt;
    text = text.substr(0, mark);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  result.whole = text.substr(0, point);
  if (point < text.size()) result.fraction = text.substr(point + 1);
  if (result.whole.size() + result.fraction.size() > most_digits) return std::nullopt;
  for (; exponent > 0; --exponent) {
    result.whole += result.fraction.empty() ? '0' : result.fraction[0];
    if (!result.fraction.empty()) result.fraction.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    result.fraction.insert(0, 1, result.whole.empty() ? '0' : result.whole.back());
    if (!result.whole.empty()) result.whole.pop_back();
  }
  result.whole = without_leading_zeros("0" + result.whole);
  while (result.fraction.ends_with('0')) result.fraction.pop_back();
  if (result.is_zero()) result.is_negative = false;
  return result;
}

int compare(const Decimal& left, const Decimal& right) {
  if (left.is_negative != right.is_negative) return left.is_negative ? -1 : 1;
  const int order = compare_magnitudes(left, right);
  return left.is_negative ? -order : order;
}

Result<bool> is_multiple(const Decimal& number, const Divisor& divisor) {
  constexpr std::size_t most_divisor_digits = 18;  // ten times the remainder must fit
  const std::size_t places = std::max(number.fraction.size(), divisor.value.fraction.size());
  const auto scaled = [&](const Decimal& decimal) {
    return without_leading_zeros(decimal.whole + decimal.fraction + std::string(places - decimal.fraction.size(), '0'));
  };
  const std::string divisor_digits = scaled(divisor.value);
  if (divisor_digits.size() > most_divisor_digits) {
    return error_at({nullptr, divisor.pointer}, "multipleOf",
                    "a divisor that has 18 digits at most with as many places as the listed number");
  }
  std::uint64_t value = 0, remainder = 0;
  std::from_chars(divisor_digits.data(), divisor_digits.data() + divisor_digits.size(), value);
  for (const char digit : scaled(number)) remainder = (remainder * 10 + static_cast<unsigned>(digit - '0')) % value;
  return remainder == 0;
}

Result<FiniteAutomaton> number_language(const NumberLimits& limits, Budget& budget) {
  const auto magnitude = [](NumberBound bound) {
    bound.value.is_negative = false;
    return std::optional(bound);
  };
  const bool is_least_negative = limits.least && limits.least->value.is_negative;
  const bool is_most_negative = limits.most && limits.most->value.is_negative;
  FiniteAutomaton positive;
  if (!is_most_negative) {
    positive = TRY(magnitudes_between(is_least_negative ? std::nullopt : limits.least, limits.most, limits, budget));
  }
  FiniteAutomaton negative;
  if (!limits.least || is_least_negative) {
    // Zero is spelled without a sign.
    std::optional<NumberBound> from = NumberBound{{.whole = "0", .fraction = ""}, true};
    if (is_most_negative) from = magnitude(*limits.most);
    const auto to = limits.least ? magnitude(*limits.least) : std::nullopt;
    const FiniteAutomaton magnitudes = TRY(magnitudes_between(from, to, limits, budget));
    if (!magnitudes.is_nothing()) negative = negated(magnitudes);
  }
  return joined(positive, negative);
}

}  // namespace ingot::grammar
