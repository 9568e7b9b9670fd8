// TokenStream: a script's tokens one after the other, for the parts of its reader.
#pragma once

#include <algorithm>

#include "tests/network/tokens.h"

namespace ingot::network_scripts {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // Behind the last there is always the end.
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  Token take() {
    const Token token = peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  bool takes(char sign) { return peek().is(sign) && (take(), true); }
  bool takes(std::string_view word) { return peek().is(word) && (take(), true); }
  bool takes(Token::Kind kind) { return peek().kind == kind && (take(), true); }

  Error failure(std::string_view expected) const {
    const Token& token = peek();
    return Error::of(ErrorCode::invalid_argument, token.at.line, ":", token.at.column, ": expected ", expected,
                     ", found ", name_of(token));
  }
  Result<void> expect(char sign) {
    if (takes(sign)) return {};
    return failure("'" + std::string(1, sign) + "'");
  }
  Result<std::string> word(std::string_view expected) {
    if (peek().kind != Token::Kind::word) return failure(expected);
    return take().text;
  }
  Result<std::int64_t> number(std::int64_t least, std::int64_t most, std::string_view expected) {
    const Token& token = peek();
    if (token.kind != Token::Kind::number || token.is_fraction || token.number < least || token.number > most) {
      return failure(expected);
    }
    return take().number;
  }

 private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace ingot::network_scripts
