// Tokens: a script's text cut into what its grammar is made of.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/network/script.h"

namespace ingot::network_scripts {

struct Token {
  enum class Kind { end, sign, ellipsis, number, word, text, command, code, option };
  Kind kind = Kind::end;
  Position at;
  std::string text;          // what was written, without its quotes; an option: `name=value`
  std::int64_t number = 0;   // a number in whole, else its whole part
  Microseconds time = 0;     // a number taken as seconds
  bool is_fraction = false;  // 1.5

  bool is(char sign) const { return kind == Kind::sign && text[0] == sign; }
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
};

// For messages: "the end", "'>'", "the word foo".
std::string name_of(const Token& token);

// What stands between `#ifdef NAME` and `#endif` counts if `defined` has the name.
Result<std::vector<Token>> cut_tokens(std::string_view text, const std::set<std::string>& defined);

}  // namespace ingot::network_scripts
