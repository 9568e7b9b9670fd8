#include "tests/network/tokens.h"

#include <optional>

namespace ingot::network_scripts {
namespace {

constexpr std::size_t longest_script = std::size_t{1} << 22;
constexpr Microseconds second = 1'000'000;
constexpr std::int64_t largest_number = std::int64_t{1} << 32;  // as seconds and as a sequence number

bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}
bool is_of_word(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         character == '_';
}

std::optional<std::int64_t> whole_number(std::string_view digits, int base) {
  std::int64_t value = 0;
  for (const char character : digits) {
    const char small = static_cast<char>(character | 0x20);
    const int digit = is_digit(character) ? character - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : base;
    if (digit >= base || __builtin_mul_overflow(value, std::int64_t{base}, &value) ||
        __builtin_add_overflow(value, std::int64_t{digit}, &value)) {
      return std::nullopt;
    }
  }
  return value;
}

class Cutter {
 public:
  Cutter(std::string_view text, const std::set<std::string>& defined) : text_(text), defined_(defined) {}

  Result<std::vector<Token>> cut();

 private:
  char at(std::size_t ahead) const { return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0'; }
  bool follows(std::string_view word) const { return text_.substr(next_, word.size()) == word; }
  bool is_done() const { return next_ >= text_.size(); }
  void skip(std::size_t count);
  Error failure(std::string_view expected) const;
  Result<void> skip_until(std::string_view end, std::string_view expected);
  Result<bool> skip_silence();
  Result<void> skip_untaken();
  Result<Token> quoted(Token::Kind kind, char quote);
  Result<Token> code();
  Result<Token> number();
  Token word();
  Result<Token> option();
  Result<Token> next();
  Token begin(Token::Kind kind) const { return {.kind = kind, .at = position_, .text = {}}; }

  std::string_view text_;
  const std::set<std::string>& defined_;
  std::size_t next_ = 0;
  Position position_;
  bool is_within_condition_ = false;
};

void Cutter::skip(std::size_t count) {
  for (; count > 0 && !is_done(); --count) {
    ++position_.column;
    if (text_[next_++] == '\n') position_ = {position_.line + 1, 1};
  }
}

Error Cutter::failure(std::string_view expected) const {
  return Error::of(ErrorCode::invalid_argument, position_.line, ":", position_.column, ": expected ", expected,
                   ", found ", is_done() ? std::string("the end") : "'" + std::string(1, at(0)) + "'");
}

Result<void> Cutter::skip_until(std::string_view end, std::string_view expected) {
  while (!follows(end)) {
    if (is_done()) return failure(expected);
    skip(1);
  }
  skip(end.size());
  return {};
}

Result<void> Cutter::skip_untaken() {
  if (is_within_condition_) return failure("#endif before another #ifdef");
  is_within_condition_ = true;
  skip(6);
  while (is_space(at(0))) skip(1);
  std::string name;
  for (; is_of_word(at(0)); skip(1)) name += at(0);
  if (name.empty()) return failure("a name after #ifdef");
  if (defined_.contains(name)) return {};
  is_within_condition_ = false;
  return skip_until("#endif", "#endif");
}

// Whether there was any.
Result<bool> Cutter::skip_silence() {
  if (is_space(at(0)) && !is_done()) return skip(1), true;
  if (follows("//")) {
    while (!is_done() && at(0) != '\n') skip(1);
    return true;
  }
  if (follows("/*")) {
    TRY(skip_until("*/", "the comment's end"));
    return true;
  }
  if (follows("#ifdef")) {
    TRY(skip_untaken());
    return true;
  }
  if (follows("#endif") && is_within_condition_) {
    is_within_condition_ = false;
    return skip(6), true;
  }
  return false;
}

Result<Token> Cutter::quoted(Token::Kind kind, char quote) {
  Token token = begin(kind);
  skip(1);
  while (at(0) != quote) {
    if (at(0) == '\\' && next_ + 1 < text_.size()) {
      token.text += at(0);
      skip(1);
    }
    if (is_done()) return failure("the closing quote");
    token.text += at(0);
    skip(1);
  }
  skip(1);
  return token;
}

Result<Token> Cutter::code() {
  Token token = begin(Token::Kind::code);
  skip(2);
  const std::size_t start = next_;
  TRY(skip_until("}%", "}%"));
  token.text = text_.substr(start, next_ - 2 - start);
  return token;
}

// -1, 10, .5, 1.25; what goes on as a word is one: 0a1b is a cookie.
Result<Token> Cutter::number() {
  Token token = begin(Token::Kind::number);
  const bool is_negative = at(0) == '-';
  std::size_t length = is_negative ? 1 : 0;
  while (is_digit(at(length))) ++length;
  const auto whole = whole_number(text_.substr(next_ + is_negative, length - is_negative), 10);
  if (!whole || *whole > largest_number) return failure("a number of at most 2^32");
  token.number = is_negative ? -*whole : *whole;
  token.time = *whole * second;
  if (at(length) == '.' && is_digit(at(length + 1))) {
    token.is_fraction = true;
    ++length;
    for (Microseconds unit = second / 10; is_digit(at(length)); ++length, unit /= 10) {
      token.time += (at(length) - '0') * unit;
    }
  }
  if (is_negative) token.time = -token.time;
  token.text = text_.substr(next_, length);
  skip(length);
  return token;
}

Token Cutter::word() {
  Token token = begin(Token::Kind::word);
  for (; is_of_word(at(0)); skip(1)) token.text += at(0);
  if (token.text.starts_with("0x") && token.text.size() > 2) {
    const auto value = whole_number(std::string_view(token.text).substr(2), 16);
    if (value && *value <= largest_number) {
      token.kind = Token::Kind::number;
      token.number = *value;
    }
  }
  return token;
}

// --name or --name=value, where the value ends with the line or a space outside of quotes.
Result<Token> Cutter::option() {
  Token token = begin(Token::Kind::option);
  skip(2);
  for (; is_of_word(at(0)); skip(1)) token.text += at(0);
  if (token.text.empty()) return failure("an option's name");
  if (at(0) != '=') return token;
  token.text += '=';
  skip(1);
  while (!is_done() && !is_space(at(0))) {
    if (at(0) == '"' || at(0) == '`') {
      token.text += TRY(quoted(Token::Kind::text, at(0))).text;
    } else {
      token.text += at(0);
      skip(1);
    }
  }
  return token;
}

Result<Token> Cutter::next() {
  if (follows("...")) {
    const Token token = begin(Token::Kind::ellipsis);
    return skip(3), token;
  }
  if (follows("%{")) return code();
  if (at(0) == '"') return quoted(Token::Kind::text, '"');
  if (at(0) == '`') return quoted(Token::Kind::command, '`');
  if (follows("--") && is_of_word(at(2))) return option();
  std::size_t digits = 0;
  while (is_digit(at(digits))) ++digits;
  const bool is_word = is_of_word(at(0)) && (digits == 0 || is_of_word(at(digits)));
  if (is_word) return word();
  if (digits > 0 || (at(0) == '.' && is_digit(at(1))) ||
      (at(0) == '-' && (is_digit(at(1)) || (at(1) == '.' && is_digit(at(2)))))) {
    return number();
  }
  Token token = begin(Token::Kind::sign);
  token.text = at(0);
  return skip(1), token;
}

Result<std::vector<Token>> Cutter::cut() {
  if (text_.size() > longest_script) return failure("a script of at most 4 MiB");
  std::vector<Token> tokens;
  while (true) {
    while (TRY(skip_silence())) {
    }
    if (is_done()) break;
    tokens.push_back(TRY(next()));
  }
  if (is_within_condition_) return failure("#endif");
  tokens.push_back(begin(Token::Kind::end));
  return tokens;
}

}  // namespace

std::string name_of(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end";
    case Token::Kind::sign: return "'" + token.text + "'";
    case Token::Kind::ellipsis: return "'...'";
    case Token::Kind::number: return "the number " + token.text;
    case Token::Kind::word: return "the word " + token.text;
    case Token::Kind::text: return "a text";
    case Token::Kind::command: return "a command";
    case Token::Kind::code: return "code";
    case Token::Kind::option: return "the option --" + token.text;
  }
  return "nothing";
}

Result<std::vector<Token>> cut_tokens(std::string_view text, const std::set<std::string>& defined) {
  return Cutter(text, defined).cut();
}

}  // namespace ingot::network_scripts
