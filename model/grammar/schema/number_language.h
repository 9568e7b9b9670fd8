// Numbers between bounds, as the texts that spell them.
#pragma once

#include <optional>
#include <string>

#include "model/grammar/finite_automaton.h"
#include "model/grammar/schema/schema_pointer.h"

namespace ingot::grammar {

// A decimal number without an exponent.
struct Decimal {
  bool is_negative = false;
  std::string whole;     // digits, "0" at the least
  std::string fraction;  // digits without zeros at the end

  // Of a JSON number in any form; nothing where that would take more than a few hundred digits.
  static std::optional<Decimal> parse(std::string_view text);
  bool is_zero() const { return whole == "0" && fraction.empty(); }
};

// Negative, zero or positive as left is less than, equal to or greater than right.
int compare(const Decimal& left, const Decimal& right);

struct NumberBound {
  Decimal value;
  bool is_exclusive = false;
};

struct Divisor {
  Decimal value;
  SchemaPointer pointer;  // of the schema that asks for it
};

// Whether it is a whole number of divisors. An error: a divisor with too many digits.
Result<bool> is_multiple(const Decimal& number, const Divisor& divisor);

struct NumberLimits {
  std::optional<NumberBound> least, most;
  std::optional<Divisor> multiple_of;
  bool is_whole = false;

  bool is_plain() const { return !least && !most && !multiple_of; }
};

// Spelled without an exponent, whole ones without a point where only whole ones are meant. An error: a divisor with too
// many digits.
Result<FiniteAutomaton> number_language(const NumberLimits& limits, Budget& budget);

}  // namespace ingot::grammar
