#include "model/calls/literal_rewriter.h"

#include <algorithm>

#include "model/calls/marks.h"

namespace ingot::calls {

namespace {

bool is_letter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_hexadecimal(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}
bool is_of_number(char byte) {
  return is_digit(byte) || byte == '-' || byte == '+' || byte == '.' || byte == 'e' || byte == 'E';
}
bool is_of_bare_key(char byte) {
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("\"'{}[](),:=<>").find(byte) == std::string_view::npos;
}

}  // namespace

void append_escaped(char byte, std::string& json) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(byte);
  switch (byte) {
    case '"': json += "\\\""; return;
    case '\\': json += "\\\\"; return;
    case '\n': json += "\\n"; return;
    case '\r': json += "\\r"; return;
    case '\t': json += "\\t"; return;
    default: break;
  }
  if (code >= 0x20 && code != 0x7f) {
    json += byte;
    return;
  }
  json += "\\u00";
  json += digits[code >> 4];
  json += digits[code & 15];
}

void append_escaped(std::string_view text, std::string& json) {
  for (const char byte : text) append_escaped(byte, json);
}

bool is_json_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  const bool begins_with_zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (begins_with_zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool LiteralRewriter::fail() {
  status_ = Status::failed;
  return false;
}

void LiteralRewriter::end_value() {
  is_first_ = false;
  place_ = Place::next;
  if (levels_.empty()) status_ = Status::done;
}

bool LiteralRewriter::take(char byte, std::string& json) {
  if (status_ != Status::reading) return false;
  switch (place_) {
    case Place::value: return is_white_space(byte) || begin_value(byte, json);
    case Place::key: return is_white_space(byte) || begin_key(byte, json);
    case Place::bare_key: return take_bare_key(byte, json);
    case Place::assign: return is_white_space(byte) || take_assign(byte, json);
    case Place::next: return is_white_space(byte) || take_next(byte, json);
    case Place::text: return take_text(byte, json);
    case Place::escape: return take_escape(byte, json);
    case Place::code: return take_code(byte, json);
    case Place::marked_text: return take_marked_text(byte, json);
    case Place::opening_mark: return take_opening_mark(byte, json);
    case Place::number:
    case Place::word:
      if (place_ == Place::number ? is_of_number(byte) : is_letter(byte)) {
        word_ += byte;
        return true;
      }
      end_word(json);
      return take(byte, json);
  }
  return false;
}

void LiteralRewriter::finish(std::string& json) {
  if (status_ == Status::reading && (place_ == Place::number || place_ == Place::word)) end_word(json);
  if (status_ != Status::done) status_ = Status::failed;
}

void LiteralRewriter::tell_comma(std::string& json) {
  if (awaits_item_) json += ',';
  awaits_item_ = false;
}

bool LiteralRewriter::begin_value(char byte, std::string& json) {
  const bool is_in_list = !levels_.empty() && !levels_.back().is_object;
  if (is_in_list && byte == levels_.back().close) return close_level(byte, json);
  tell_comma(json);
  if (levels_.empty() && byte == syntax_.open) return open_level(syntax_.close, true, json);
  if (byte == '{') return open_level('}', true, json);
  if (byte == '[') return open_level(']', false, json);
  if (byte == '(' && syntax_.is_python) return open_level(')', false, json);
  if (byte == '"' || (byte == '\'' && syntax_.is_python)) {
    json += '"';
    delimiter_ = byte;
    is_key_ = false;
    place_ = Place::text;
    return true;
  }
  word_.assign(1, byte);
  if (!syntax_.quote.empty() && byte == syntax_.quote[0]) {
    place_ = syntax_.quote.size() == 1 ? Place::marked_text : Place::opening_mark;
    if (place_ == Place::marked_text) {
      json += '"';
      word_.clear();
    }
    return true;
  }
  if (!is_digit(byte) && byte != '-' && !is_letter(byte)) return fail();
  place_ = is_letter(byte) ? Place::word : Place::number;
  return true;
}

bool LiteralRewriter::open_level(char close, bool is_object, std::string& json) {
  levels_.push_back({close, is_object});
  json += is_object ? '{' : '[';
  is_first_ = true;
  place_ = is_object ? Place::key : Place::value;
  return true;
}

bool LiteralRewriter::close_level(char byte, std::string& json) {
  const Level level = levels_.back();
  if (byte != level.close || (awaits_item_ && !syntax_.is_python)) return fail();
  awaits_item_ = false;
  json += level.is_object ? '}' : ']';
  levels_.pop_back();
  end_value();
  return true;
}

bool LiteralRewriter::begin_key(char byte, std::string& json) {
  if (byte == levels_.back().close) return close_level(byte, json);
  const bool is_quoted = byte == '"' || (byte == '\'' && syntax_.is_python);
  if (!is_quoted && !(syntax_.has_bare_keys && is_of_bare_key(byte))) return fail();
  tell_comma(json);
  json += '"';
  if (is_quoted) {
    delimiter_ = byte;
    is_key_ = true;
    place_ = Place::text;
    return true;
  }
  place_ = Place::bare_key;
  return take_bare_key(byte, json);
}

bool LiteralRewriter::take_bare_key(char byte, std::string& json) {
  if (is_of_bare_key(byte)) {
    append_escaped(byte, json);
    return true;
  }
  json += '"';
  place_ = Place::assign;
  return take(byte, json);
}

bool LiteralRewriter::take_assign(char byte, std::string& json) {
  if (byte != (levels_.size() == 1 ? syntax_.assign : ':')) return fail();
  json += ':';
  place_ = Place::value;
  return true;
}

bool LiteralRewriter::take_next(char byte, std::string& json) {
  if (byte == ',') {
    awaits_item_ = true;
    place_ = levels_.back().is_object ? Place::key : Place::value;
    return true;
  }
  return close_level(byte, json);
}

bool LiteralRewriter::take_text(char byte, std::string& json) {
  if (byte == '\\') {
    place_ = Place::escape;
  } else if (byte == delimiter_) {
    json += '"';
    if (is_key_) {
      place_ = Place::assign;
    } else {
      end_value();
    }
  } else {
    // A line break as it is has no place in JSON, and models write it all the same.
    append_escaped(byte, json);
  }
  return true;
}

bool LiteralRewriter::take_escape(char byte, std::string& json) {
  place_ = Place::text;
  if (byte == 'u' || byte == 'x') {
    place_ = Place::code;
    word_.clear();
    code_size_ = byte == 'u' ? 4 : 2;
  } else if (std::string_view("\"\\/bfnrt").find(byte) != std::string_view::npos) {
    json += '\\';
    json += byte;
  } else if (byte == '\'') {
    json += byte;
  } else {  // no escape: Python keeps the backslash
    json += "\\\\";
    append_escaped(byte, json);
  }
  return true;
}

bool LiteralRewriter::take_code(char byte, std::string& json) {
  if (!is_hexadecimal(byte)) return fail();
  word_ += byte;
  if (word_.size() < code_size_) return true;
  json += code_size_ == 2 ? "\\u00" : "\\u";
  json += word_;
  place_ = Place::text;
  return true;
}

bool LiteralRewriter::take_opening_mark(char byte, std::string& json) {
  if (byte != syntax_.quote[word_.size()]) return fail();
  word_ += byte;
  if (word_.size() < syntax_.quote.size()) return true;
  json += '"';
  word_.clear();
  place_ = Place::marked_text;
  return true;
}

bool LiteralRewriter::take_marked_text(char byte, std::string& json) {
  word_ += byte;
  if (word_ == syntax_.quote) {
    json += '"';
    end_value();
    return true;
  }
  const std::size_t held = held_at_end(word_, syntax_.quote);
  append_escaped(std::string_view(word_).substr(0, word_.size() - held), json);
  word_.erase(0, word_.size() - held);
  return true;
}

void LiteralRewriter::end_word(std::string& json) {
  if (place_ == Place::number) {
    if (!is_json_number(word_)) {
      status_ = Status::failed;
      return;
    }
    json += word_;
  } else if (word_ == "true" || word_ == "false" || word_ == "null") {
    json += word_;
  } else if (syntax_.is_python && (word_ == "True" || word_ == "False")) {
    json += word_ == "True" ? "true" : "false";
  } else if (syntax_.is_python && word_ == "None") {
    json += "null";
  } else {
    status_ = Status::failed;
    return;
  }
  end_value();
}

}  // namespace ingot::calls
