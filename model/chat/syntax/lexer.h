// A template's source as tokens, with the white space around tags removed as Hugging Face sets Jinja up: trim_blocks
// (a block tag takes the newline after it) and lstrip_blocks (and the blanks before it on its line), `-` and `+` in
// tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

enum class TokenKind : std::uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  text,
  number,
  symbol,
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  int line = 1;
  std::string text;  // of data, a name, a text (unescaped) or a symbol
  Value number;

  bool is_symbol(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// The last token is the end.
Result<std::vector<Token>> tokenize(std::string_view source);

// As an error names it.
std::string describe_token(const Token& token);

}  // namespace ingot::chat
