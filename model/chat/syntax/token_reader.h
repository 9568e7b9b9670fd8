// A cursor over tokens, with the questions a parser asks.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/chat/syntax/lexer.h"

namespace ingot::chat {

class TokenReader {
 public:
  // Precondition: the last token is the end.
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[position_]; }
  const Token& ahead() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  int line() const { return current().line; }

  // The current token, which is then behind us. The end stays.
  Token take() {
    if (position_ + 1 == tokens_.size()) return tokens_[position_];
    return std::move(tokens_[position_++]);
  }
  bool skip_symbol(std::string_view symbol) { return skip_if(current().is_symbol(symbol)); }
  bool skip_name(std::string_view name) { return skip_if(current().is_name(name)); }
  bool at_name(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [this](std::string_view name) { return current().is_name(name); });
  }

  Result<void> expect_symbol(std::string_view symbol) {
    if (skip_symbol(symbol)) return {};
    return unexpected("'", symbol, "'");
  }
  Result<void> expect_name(std::string_view name) {
    if (skip_name(name)) return {};
    return unexpected("'", name, "'");
  }
  Result<void> expect(TokenKind kind) {
    if (skip_if(current().kind == kind)) return {};
    return unexpected(describe_token({kind, 0, {}, {}}));
  }
  Result<std::string> expect_any_name() {
    if (current().kind != TokenKind::name) return unexpected("a name");
    return take().text;
  }

  template <class... Parts>
  Error unexpected(const Parts&... expected) const {
    return Error::of(ErrorCode::invalid_argument, "line ", line(), ": expected ", expected..., ", found ",
                     describe_token(current()));
  }

 private:
  bool skip_if(bool holds) {
    if (holds && position_ + 1 < tokens_.size()) ++position_;
    return holds;
  }

  std::vector<Token> tokens_;
  std::size_t position_ = 0;
};

}  // namespace ingot::chat
