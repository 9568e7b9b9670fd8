// Sets of code points as expressions over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/grammar/expression.h"
#include "model/tokenizer/code_point_set.h"

namespace ingot::grammar {

enum class Spelling : std::uint8_t {
  plain,  // UTF-8
  json,   // as inside of a JSON string: what must be escaped is, in one way, and nothing else
};

// What a digit of base 16 stands for, in either case.
constexpr std::optional<CodePoint> hexadecimal_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<CodePoint>(digit - '0');
  const auto small = static_cast<char>(digit | 0x20);
  if (small >= 'a' && small <= 'f') return static_cast<CodePoint>(small - 'a' + 10);
  return std::nullopt;
}

// One character of the set. Surrogates are no characters.
ExpressionId one_character(Expressions& expressions, const CodePointSet& set, Spelling spelling);

// One character of any JSON string, however it is spelled: escapes for what needs none, surrogates in pairs.
ExpressionId any_json_character(Expressions& expressions);

// A text as it stands inside of a JSON string, in the one way of Spelling::json.
std::string json_spelling(std::string_view text);

}  // namespace ingot::grammar
