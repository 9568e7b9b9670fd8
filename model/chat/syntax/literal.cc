#include "model/chat/syntax/literal.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "model/chat/template_text.h"

namespace ingot::chat {

namespace {

bool is_decimal_digit(char character) { return character >= '0' && character <= '9'; }

int digit_value(char character) {
  if (is_decimal_digit(character)) return character - '0';
  if (character >= 'a' && character <= 'z') return character - 'a' + 10;
  if (character >= 'A' && character <= 'Z') return character - 'A' + 10;
  return 99;
}

// Digits with single underscores between them.
std::size_t digits_length(std::string_view source, int base) {
  std::size_t length = 0;
  while (length < source.size()) {
    if (digit_value(source[length]) < base) {
      ++length;
    } else if (source[length] == '_' && length > 0 && source[length - 1] != '_' && length + 1 < source.size() &&
               digit_value(source[length + 1]) < base) {
      ++length;
    } else {
      break;
    }
  }
  return length;
}

std::string without_underscores(std::string_view digits) {
  std::string plain(digits);
  std::erase(plain, '_');
  return plain;
}

std::size_t float_length(std::string_view source) {
  const std::size_t whole = digits_length(source, 10);
  if (whole == 0) return 0;
  std::size_t length = whole;
  if (length < source.size() && source[length] == '.') {
    const std::size_t fraction = digits_length(source.substr(length + 1), 10);
    if (fraction > 0) length += 1 + fraction;
  }
  if (length < source.size() && (source[length] == 'e' || source[length] == 'E')) {
    const bool is_signed = length + 1 < source.size() && (source[length + 1] == '+' || source[length + 1] == '-');
    const std::size_t mark = is_signed ? 2 : 1;
    const std::size_t exponent = length + mark <= source.size() ? digits_length(source.substr(length + mark), 10) : 0;
    if (exponent > 0) length += mark + exponent;
  }
  return length == whole ? 0 : length;
}

std::optional<std::int64_t> integer_of_digits(std::string_view digits, int base, bool is_negative) {
  std::uint64_t magnitude = 0;
  for (char character : digits) {
    if (__builtin_mul_overflow(magnitude, static_cast<std::uint64_t>(base), &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<std::uint64_t>(digit_value(character)), &magnitude)) {
      return std::nullopt;
    }
  }
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > most + (is_negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(is_negative ? std::uint64_t{0} - magnitude : magnitude);
}

int base_of_prefix(std::string_view source) {
  if (source.size() < 3 || source[0] != '0') return 10;
  switch (source[1]) {
    case 'b':
    case 'B': return 2;
    case 'o':
    case 'O': return 8;
    case 'x':
    case 'X': return 16;
    default: return 10;
  }
}

// from_chars knows no locale, and gives nothing where strtod gives infinity or zero.
std::optional<double> double_of(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range) {
    const std::size_t mark = text.find_first_of("eE");
    const bool is_tiny = mark != std::string_view::npos && mark + 1 < text.size() && text[mark + 1] == '-';
    return is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

Result<char32_t> read_hexadecimal(std::string_view source, std::size_t offset, std::size_t digits) {
  char32_t value = 0;
  for (std::size_t index = 0; index < digits; ++index) {
    const int digit = offset + index < source.size() ? digit_value(source[offset + index]) : 99;
    if (digit >= 16) {
      return Error::of(ErrorCode::invalid_argument, "expected ", digits, " hexadecimal digits after an escape, found '",
                       source.substr(std::min(offset, source.size()), digits), "'");
    }
    value = value * 16 + static_cast<char32_t>(digit);
  }
  if (value > 0x10FFFF)
    return Error::of(ErrorCode::invalid_argument, "expected a code point, found an escape beyond it");
  return value;
}

char simple_escape(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"': return letter;
    default: return 0;
  }
}

}  // namespace

Result<NumberLiteral> read_number(std::string_view source, bool after_dot) {
  NumberLiteral literal;
  if (source.empty() || !is_decimal_digit(source[0])) return literal;
  const std::size_t float_bytes = after_dot ? 0 : float_length(source);
  if (float_bytes > 0) {
    literal.length = float_bytes;
    literal.value = Value::floating(double_of(without_underscores(source.substr(0, float_bytes))).value_or(0));
    return literal;
  }
  const int base = base_of_prefix(source);
  const std::size_t prefix = base == 10 ? 0 : 2;
  std::size_t digits = digits_length(source.substr(prefix), base);
  // A decimal number starts with 0 only if it is 0.
  if (base == 10 && source[0] == '0') digits = digits_length(source, 1);
  if (digits == 0) return literal;
  const auto value = integer_of_digits(without_underscores(source.substr(prefix, digits)), base, false);
  if (!value) {
    return Error::of(ErrorCode::overflow, "expected a number of 64 bits, found ", source.substr(0, prefix + digits));
  }
  literal.length = prefix + digits;
  literal.value = Value::integer(*value);
  return literal;
}

Result<std::string> unescape(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t offset = 0; offset < source.size();) {
    const char character = source[offset++];
    if (character != '\\' || offset == source.size()) {
      text += character;
      continue;
    }
    const char letter = source[offset++];
    if (letter == '\n') continue;
    if (const char plain = simple_escape(letter)) {
      text += plain;
    } else if (letter >= '0' && letter <= '7') {
      char32_t value = static_cast<char32_t>(letter - '0');
      for (int more = 0; more < 2 && offset < source.size() && source[offset] >= '0' && source[offset] <= '7'; ++more) {
        value = value * 8 + static_cast<char32_t>(source[offset++] - '0');
      }
      append_code_point(text, value);
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
      char32_t value = TRY(read_hexadecimal(source, offset, digits));
      offset += digits;
      // Two halves of a surrogate pair make one code point, as in JSON.
      if (value >= 0xD800 && value < 0xDC00 && source.substr(offset, 2) == "\\u") {
        const char32_t low = TRY(read_hexadecimal(source, offset + 2, 4));
        if (low >= 0xDC00 && low < 0xE000) {
          value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
          offset += 6;
        }
      }
      append_code_point(text, value);
    } else if (letter == 'N') {
      return Error::of(ErrorCode::unsupported, "expected an escape by number, found one by name (\\N)");
    } else {
      text += '\\';
      text += letter;
    }
  }
  return text;
}

std::optional<std::int64_t> parse_integer(std::string_view text, int base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  text = strip_left(strip_right(text));
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const int prefix_base = base_of_prefix(text);
  if (prefix_base != 10 && (base == 0 || base == prefix_base)) {
    base = prefix_base;
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
  }
  if (base == 0) base = 10;
  if (text.empty() || digits_length(text, base) != text.size()) return std::nullopt;
  return integer_of_digits(without_underscores(text), base, is_negative);
}

std::optional<double> parse_float(std::string_view text) {
  text = strip_left(strip_right(text));
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const bool between_digits =
        index > 0 && is_decimal_digit(text[index - 1]) && index + 1 < text.size() && is_decimal_digit(text[index + 1]);
    if (text[index] == '_' && !between_digits) return std::nullopt;
    if (text[index] == '(') return std::nullopt;  // from_chars would read nan(...)
  }
  const auto magnitude = double_of(without_underscores(text));
  if (!magnitude) return std::nullopt;
  return is_negative ? -*magnitude : *magnitude;
}

}  // namespace ingot::chat
