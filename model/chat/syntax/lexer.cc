#include "model/chat/syntax/lexer.h"

#include <algorithm>

#include "model/chat/syntax/literal.h"
#include "model/chat/template_text.h"

namespace ingot::chat {

namespace {

bool is_name_start(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_' ||
         static_cast<unsigned char>(character) >= 0x80;
}
bool is_name_character(char character) { return is_name_start(character) || (character >= '0' && character <= '9'); }

// Newlines of every system become one; the last one of the source does not count.
std::string normalize_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t offset = 0; offset < source.size(); ++offset) {
    if (source[offset] == '\r') {
      if (offset + 1 < source.size() && source[offset + 1] == '\n') continue;
      text += '\n';
    } else {
      text += source[offset];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  Result<std::vector<Token>> run() {
    while (offset_ < source_.size()) TRY(read_data_and_tag());
    push(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(offset_); }

  void advance(std::size_t bytes) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(offset_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(offset_ + bytes), '\n'));
    offset_ += bytes;
  }

  void skip_space() {
    while (const std::size_t bytes = space_at(source_, offset_)) advance(bytes);
  }

  void push(TokenKind kind, std::string_view text) { tokens_.push_back({kind, line_, std::string(text), {}}); }

  template <class... Parts>
  Error error(const Parts&... parts) const {
    return Error::of(ErrorCode::invalid_argument, "line ", line_, ": ", parts...);
  }

  // What stands before a tag, less what the tag's sign and lstrip_blocks take away.
  std::string_view trimmed_before(std::string_view data, char sign, bool is_variable) const {
    if (sign == '-') return strip_right(data);
    if (sign == '+' || is_variable) return data;
    const std::size_t line_start = data.rfind('\n') + 1;
    if (line_start == 0 && !at_line_start_) return data;
    return strip_left(data.substr(line_start)).empty() ? data.substr(0, line_start) : data;
  }

  Result<void> read_data_and_tag() {
    std::size_t tag = offset_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        push(TokenKind::data, rest());
        advance(source_.size() - offset_);
        return {};
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    const char opener = source_[tag + 1];
    const char after = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    const char sign = after == '-' || after == '+' ? after : ' ';
    const std::string_view data = rest().substr(0, tag - offset_);
    const std::string_view kept = trimmed_before(data, sign, opener == '{');
    if (!kept.empty()) push(TokenKind::data, kept);
    advance(data.size());
    if (opener == '%') {
      if (const std::size_t raw = raw_tag_length("raw", RawEnd::begin)) return read_raw(raw);
    }
    advance(sign == ' ' ? 2 : 3);
    if (opener == '#') return read_comment();
    push(opener == '{' ? TokenKind::variable_begin : TokenKind::block_begin, {});
    return read_expression_tokens(opener == '{');
  }

  // After a tag: the sign `-` takes all white space, a block takes one newline.
  void finish_tag(char sign, std::size_t tag_bytes, bool takes_newline) {
    advance(tag_bytes);
    at_line_start_ = tag_bytes > 0 && source_[offset_ - 1] == '\n';
    if (sign == '-') {
      const std::size_t before = offset_;
      skip_space();
      if (offset_ > before) at_line_start_ = source_[offset_ - 1] == '\n';
    } else if (sign != '+' && takes_newline && rest().starts_with('\n')) {
      advance(1);
      at_line_start_ = true;
    }
  }

  Result<void> read_comment() {
    const std::size_t close = source_.find("#}", offset_);
    if (close == std::string::npos) return error("expected #} after a comment, found the end of the template");
    const char sign = close > offset_ ? source_[close - 1] : ' ';
    finish_tag(sign, close + 2 - offset_, true);
    return {};
  }

  enum class RawEnd : std::uint8_t { begin, end };

  // The length of {% raw %} or {% endraw %} at the offset, without what follows it; 0 where there is none.
  std::size_t raw_tag_length(std::string_view word, RawEnd end) {
    std::string_view text = rest();
    std::size_t length = 2;
    const auto skip = [&] {
      while (const std::size_t bytes = space_at(text, length)) length += bytes;
    };
    if (length < text.size() && (text[length] == '-' || text[length] == '+')) ++length;
    skip();
    if (text.substr(length, word.size()) != word) return 0;
    length += word.size();
    skip();
    raw_sign_ = ' ';
    if (length < text.size() && (text[length] == '-' || (end == RawEnd::end && text[length] == '+'))) {
      raw_sign_ = text[length++];
    }
    return text.substr(length, 2) == "%}" ? length + 2 : 0;
  }

  Result<void> read_raw(std::size_t tag_bytes) {
    finish_tag(raw_sign_, tag_bytes, false);
    const std::size_t start = offset_;
    std::size_t close = start;
    std::size_t close_bytes = 0;
    while (close_bytes == 0) {
      close = source_.find("{%", close);
      if (close == std::string::npos) return error("expected {% endraw %}, found the end of the template");
      offset_ = close;
      close_bytes = raw_tag_length("endraw", RawEnd::end);
      if (close_bytes == 0) close += 2;
    }
    offset_ = start;
    const char after = source_[close + 2];
    const std::string_view data = rest().substr(0, close - start);
    const std::string_view kept = trimmed_before(data, after == '-' || after == '+' ? after : ' ', false);
    if (!kept.empty()) push(TokenKind::data, kept);
    advance(data.size());
    finish_tag(raw_sign_, close_bytes, true);
    return {};
  }

  Result<void> read_expression_tokens(bool is_variable) {
    const std::string_view closer = is_variable ? "}}" : "%}";
    while (true) {
      skip_space();
      if (offset_ >= source_.size()) return error("expected ", closer, ", found the end of the template");
      if (brackets_.empty()) {
        const char sign = source_[offset_];
        const bool is_signed = sign == '-' || (sign == '+' && !is_variable);
        if (is_signed && rest().substr(1, 2) == closer) {
          push(is_variable ? TokenKind::variable_end : TokenKind::block_end, {});
          finish_tag(sign, 3, false);
          return {};
        }
        if (rest().starts_with(closer)) {
          push(is_variable ? TokenKind::variable_end : TokenKind::block_end, {});
          finish_tag(' ', 2, !is_variable);
          return {};
        }
      }
      TRY(read_token());
    }
  }

  Result<void> read_token() {
    const char first = source_[offset_];
    auto number = read_number(rest(), offset_ > 0 && source_[offset_ - 1] == '.');
    if (!number.ok()) return number.error().within("line ", line_);
    if (number.value().length > 0) {
      push(TokenKind::number, rest().substr(0, number.value().length));
      tokens_.back().number = number.value().value;
      advance(number.value().length);
      return {};
    }
    if (is_name_start(first)) {
      std::size_t length = 1;
      while (length < rest().size() && is_name_character(rest()[length])) ++length;
      // White space beyond ASCII ends a name as any other does.
      for (std::size_t index = 1; index < length; ++index) {
        if (space_at(rest(), index) > 0) length = index;
      }
      push(TokenKind::name, rest().substr(0, length));
      advance(length);
      return {};
    }
    if (first == '\'' || first == '"') return read_text(first);
    return read_symbol();
  }

  Result<void> read_text(char quote) {
    std::size_t length = 1;
    while (length < rest().size() && rest()[length] != quote) length += rest()[length] == '\\' ? 2 : 1;
    if (length >= rest().size()) return error("expected a closing ", quote, ", found the end of the template");
    auto text = unescape(rest().substr(1, length - 1));
    if (!text.ok()) return text.error().within("line ", line_);
    push(TokenKind::text, text.value());
    advance(length + 1);
    return {};
  }

  Result<void> read_symbol() {
    static constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                   "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                   ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (std::string_view symbol : symbols) {
      if (!rest().starts_with(symbol)) continue;
      TRY(balance(symbol[0]));
      push(TokenKind::symbol, symbol);
      advance(symbol.size());
      return {};
    }
    const std::size_t bytes = decode_code_point(source_, offset_).bytes;
    return error("expected a token, found '", rest().substr(0, bytes), "'");
  }

  // Inside brackets "}}" closes brackets, not the tag.
  Result<void> balance(char symbol) {
    if (symbol == '(') brackets_ += ')';
    if (symbol == '[') brackets_ += ']';
    if (symbol == '{') brackets_ += '}';
    if (symbol != ')' && symbol != ']' && symbol != '}') return {};
    if (brackets_.empty()) return error("expected no closing bracket, found '", symbol, "'");
    if (brackets_.back() != symbol) return error("expected '", brackets_.back(), "', found '", symbol, "'");
    brackets_.pop_back();
    return {};
  }

  std::string source_;
  std::size_t offset_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
  char raw_sign_ = ' ';
  std::string brackets_;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(normalize_newlines(source)).run(); }

std::string describe_token(const Token& token) {
  switch (token.kind) {
    case TokenKind::data: return "text outside of tags";
    case TokenKind::variable_begin: return "'{{'";
    case TokenKind::variable_end: return "'}}'";
    case TokenKind::block_begin: return "'{%'";
    case TokenKind::block_end: return "'%}'";
    case TokenKind::name:
    case TokenKind::number:
    case TokenKind::symbol: return "'" + token.text + "'";
    case TokenKind::text: return "the text '" + token.text + "'";
    case TokenKind::end: return "the end of the template";
  }
  return "nothing";
}

}  // namespace ingot::chat
