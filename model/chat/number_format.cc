#include "model/chat/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/chat/runtime.h"
#include "model/chat/template_text.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

constexpr std::int64_t most_precision = 500;

std::string digits_of(std::uint64_t magnitude, int base, bool in_capitals) {
  char buffer[65];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base);
  std::string digits(buffer, written.ptr);
  if (in_capitals) {
    for (char& digit : digits) digit = static_cast<char>(digit >= 'a' ? digit - 'a' + 'A' : digit);
  }
  return digits;
}

// A separator between groups, counted from the end of the whole part.
std::string grouped(const std::string& digits, char separator, std::size_t group) {
  if (separator == 0) return digits;
  std::string out;
  for (std::size_t index = 0; index < digits.size(); ++index) {
    if (index > 0 && (digits.size() - index) % group == 0) out += separator;
    out += digits[index];
  }
  return out;
}

std::string sign_of(bool is_negative, char sign) {
  if (is_negative) return "-";
  return sign == '-' ? std::string() : std::string(1, sign);
}

Result<std::string> format_integer(std::int64_t value, const FormatSpecification& specification) {
  const bool is_negative = value < 0;
  const std::uint64_t magnitude =
      is_negative ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int base = 10;
  std::string prefix;
  switch (specification.type) {
    case 'b': base = 2, prefix = "0b"; break;
    case 'o': base = 8, prefix = "0o"; break;
    case 'x': base = 16, prefix = "0x"; break;
    case 'X': base = 16, prefix = "0X"; break;
    default: break;
  }
  std::string digits = digits_of(magnitude, base, specification.type == 'X');
  const auto least = static_cast<std::size_t>(std::clamp<std::int64_t>(specification.precision, 0, most_precision));
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  return sign_of(is_negative, specification.sign) + (specification.alternate ? prefix : "") +
         grouped(digits, specification.grouping, base == 10 ? 3 : 4);
}

std::string float_digits(double magnitude, char type, int precision) {
  const std::chars_format form = type == 'e'   ? std::chars_format::scientific
                                 : type == 'f' ? std::chars_format::fixed
                                               : std::chars_format::general;
  std::string buffer(static_cast<std::size_t>(precision) + 340, '\0');
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, form, precision);
  buffer.resize(static_cast<std::size_t>(written.ptr - buffer.data()));
  return buffer;
}

Result<std::string> format_float(double value, const FormatSpecification& specification) {
  char type = specification.type;
  const bool in_capitals = type == 'E' || type == 'F' || type == 'G';
  if (in_capitals) type = static_cast<char>(type - 'A' + 'a');
  const bool is_percent = type == '%';
  if (is_percent) {
    value *= 100;
    type = 'f';
  }
  if (specification.precision > most_precision) {
    return Error::of(ErrorCode::out_of_range, "expected a precision of at most ", most_precision, ", found ",
                     specification.precision);
  }
  const int precision = specification.precision < 0 ? 6 : static_cast<int>(specification.precision);
  const double magnitude = std::abs(value);
  std::string digits;
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
  } else if (type == 0 && specification.precision < 0) {
    digits = float_text(magnitude);
  } else {
    digits = float_digits(magnitude, type, type == 'g' || type == 0 ? std::max(precision, 1) : precision);
    // Without a type a float shows that it is one.
    if (type == 0 && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  }
  if (in_capitals) {
    for (char& digit : digits) digit = static_cast<char>(digit >= 'a' && digit <= 'z' ? digit - 'a' + 'A' : digit);
  }
  const std::size_t whole = std::min(digits.find_first_of(".eE"), digits.size());
  const bool is_negative = std::signbit(value) && !std::isnan(value);
  return sign_of(is_negative, specification.sign) + grouped(digits.substr(0, whole), specification.grouping, 3) +
         digits.substr(whole) + (is_percent ? "%" : "");
}

}  // namespace

Result<std::string> format_number(const Value& value, const FormatSpecification& specification) {
  const std::string_view integer_types("dboxXn");
  const bool wants_integer =
      specification.type != 0 && integer_types.find(specification.type) != std::string_view::npos;
  const auto integer = value.integer_value();
  if (integer && (wants_integer || specification.type == 0)) return format_integer(*integer, specification);
  const auto number = value.number_value();
  const std::string_view float_types("eEfFgG%");
  if (number && (specification.type == 0 || float_types.find(specification.type) != std::string_view::npos)) {
    return format_float(*number, specification);
  }
  return Error::of(ErrorCode::invalid_argument, "expected a value for format '", specification.type, "', found ",
                   value.type_name());
}

Result<std::string> pad(std::string text, const FormatSpecification& specification, char preferred, Runtime& runtime) {
  const auto length = static_cast<std::int64_t>(count_code_points(text));
  if (specification.width <= length) return text;
  const auto missing = static_cast<std::uint64_t>(specification.width - length);
  TRY(runtime.budget.spend_bytes(missing * specification.fill.size()));
  const char alignment = specification.alignment == 0 ? preferred : specification.alignment;
  const std::uint64_t before = alignment == '<' ? 0 : alignment == '^' ? missing / 2 : missing;
  std::string head;
  std::string tail;
  for (std::uint64_t index = 0; index < missing; ++index) (index < before ? head : tail) += specification.fill;
  // '=' puts the padding between the sign (and 0x) and the digits.
  std::size_t sign_bytes = 0;
  if (alignment == '=') {
    if (!text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ')) sign_bytes = 1;
    if (specification.alternate && text.substr(sign_bytes, 1) == "0" && text.size() > sign_bytes + 1) sign_bytes += 2;
  }
  return text.substr(0, sign_bytes) + head + text.substr(sign_bytes) + tail;
}

}  // namespace ingot::chat
