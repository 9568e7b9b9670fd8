// Filters of numbers: int, float, round, abs, filesizeformat.
#include <cmath>

#include "model/chat/arithmetic.h"
#include "model/chat/functions/filters.h"
#include "model/chat/number_format.h"
#include "model/chat/runtime.h"
#include "model/chat/syntax/literal.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

Result<std::optional<std::int64_t>> whole_part(double value) {
  if (!std::isfinite(value)) return std::optional<std::int64_t>();
  if (std::abs(value) >= 9.2e18) {
    return Error::of(ErrorCode::overflow, "expected a whole number of 64 bits, found ", float_text(value));
  }
  return std::optional(static_cast<std::int64_t>(value));
}

Result<Value> to_integer(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("int", arguments, {"default", "base"}));
  if (subject.is_undefined()) return Error::of(ErrorCode::invalid_argument, subject.undefined_reason());
  const std::int64_t base = TRY(bound.integer(1, 10));
  const Value otherwise = bound.has(0) ? bound[0] : Value::integer(0);
  if (const auto integer = subject.integer_value()) return Value::integer(*integer);
  std::optional<double> number = subject.number_value();
  if (subject.is_text()) {
    const int checked_base = base >= 0 && base <= 36 ? static_cast<int>(base) : 1;
    if (const auto integer = parse_integer(subject.bytes(), checked_base)) return Value::integer(*integer);
    number = parse_float(subject.bytes());
  }
  if (!number) return otherwise;
  const auto whole = TRY(whole_part(*number));
  return whole ? Value::integer(*whole) : otherwise;
}

Result<Value> to_float(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("float", arguments, {"default"}));
  if (subject.is_undefined()) return Error::of(ErrorCode::invalid_argument, subject.undefined_reason());
  std::optional<double> number = subject.number_value();
  if (subject.is_text()) number = parse_float(subject.bytes());
  if (number) return Value::floating(*number);
  return bound.has(0) ? bound[0] : Value::floating(0);
}

Result<Value> absolute(Runtime&, const Value& subject, const Arguments& arguments) {
  TRY(bind("abs", arguments, {}));
  if (subject.is(Kind::floating)) return Value::floating(std::abs(subject.as_floating()));
  const auto integer = subject.integer_value();
  if (!integer) return Error::of(ErrorCode::invalid_argument, "expected a number, found ", subject.type_name());
  return *integer < 0 ? negate(subject) : Value::integer(*integer);
}

// To the nearest, and to the even one of two, judged by the exact value: as many digits are printed and read back.
Result<Value> round_float(double value, std::int64_t precision) {
  if (!std::isfinite(value) || precision > 320) return Value::floating(value);
  if (precision >= 0) {
    FormatSpecification specification;
    specification.type = 'f';
    specification.precision = precision;
    const std::string digits = TRY(format_number(Value::floating(value), specification));
    return Value::floating(parse_float(digits).value_or(value));
  }
  if (precision < -320) return Value::floating(0);
  const double scale = std::pow(10.0, static_cast<double>(-precision));
  return Value::floating(std::nearbyint(value / scale) * scale);
}

Result<Value> round_integer(std::int64_t value, std::int64_t precision) {
  if (precision >= 0) return Value::integer(value);
  if (precision < -18) return Value::integer(0);
  std::int64_t scale = 1;
  for (; precision < 0; ++precision) scale *= 10;
  const std::int64_t remainder = ((value % scale) + scale) % scale;
  const std::int64_t below = value - remainder;
  const bool goes_up = remainder * 2 > scale || (remainder * 2 == scale && (below / scale) % 2 != 0);
  std::int64_t result = below;
  if (goes_up && __builtin_add_overflow(below, scale, &result)) {
    return Error::of(ErrorCode::overflow, "expected a whole number of 64 bits, found a larger one");
  }
  return Value::integer(result);
}

Result<Value> round(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("round", arguments, {"precision", "method"}));
  const std::int64_t precision = TRY(bound.integer(0, 0));
  const std::string method = TRY(bound.text(1, "common"));
  const auto number = subject.number_value();
  if (!number) return Error::of(ErrorCode::invalid_argument, "expected a number to round, found ", subject.type_name());
  if (method == "common") {
    if (const auto integer = subject.integer_value()) return round_integer(*integer, precision);
    return round_float(*number, precision);
  }
  if (method != "ceil" && method != "floor") {
    return Error::of(ErrorCode::invalid_argument, "expected the method common, ceil or floor, found '", method, "'");
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = *number * scale;
  // Python rounds to an integer here, which has no negative zero.
  const double whole = (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0;
  return Value::floating(whole / scale);
}

Result<Value> filesizeformat(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("filesizeformat", arguments, {"binary"}));
  std::optional<double> bytes = subject.number_value();
  if (subject.is_text()) bytes = parse_float(subject.bytes());
  if (!bytes || std::isnan(*bytes)) {
    return Error::of(ErrorCode::invalid_argument, "expected a number of bytes, found ", subject.type_name());
  }
  const bool is_binary = bound.flag(0, false);
  const double base = is_binary ? 1024 : 1000;
  if (*bytes == 1) return Value::text("1 Byte");
  if (*bytes < base) {
    const auto whole = TRY(whole_part(*bytes));
    return Value::text(std::to_string(whole.value_or(0)) + " Bytes");
  }
  std::size_t index = 0;
  double unit = base * base;
  for (; index < 7 && *bytes >= unit; ++index) unit *= base;
  FormatSpecification specification;
  specification.type = 'f';
  specification.precision = 1;
  const std::string amount = TRY(format_number(Value::floating(base * *bytes / unit), specification));
  const std::string prefix = is_binary ? std::string(1, "KMGTPEZY"[index]) + "i" : std::string(1, "kMGTPEZY"[index]);
  return Value::text(amount + " " + prefix + "B");
}

constexpr Filter filters[] = {
    {"abs", absolute}, {"filesizeformat", filesizeformat}, {"float", to_float}, {"int", to_integer}, {"round", round},
};

}  // namespace

std::span<const Filter> number_filters() { return filters; }

}  // namespace ingot::chat
