#include "model/chat/arithmetic.h"

#include <cmath>

#include "model/chat/functions/printf_format.h"
#include "model/chat/runtime.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

std::string_view symbol_of(BinaryOperator operation) {
  switch (operation) {
    case BinaryOperator::add: return "+";
    case BinaryOperator::subtract: return "-";
    case BinaryOperator::multiply: return "*";
    case BinaryOperator::divide: return "/";
    case BinaryOperator::floor_divide: return "//";
    case BinaryOperator::modulo: return "%";
    case BinaryOperator::power: return "**";
  }
  return "?";
}

Error division_by_zero() { return Error::of(ErrorCode::invalid_argument, "expected a divisor, found zero"); }

Error too_large() { return Error::of(ErrorCode::overflow, "expected a whole number of 64 bits, found a larger one"); }

Result<Value> integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return division_by_zero();
    return Value::floating(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) return Value::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Value::integer(exponent % 2 == 0 ? 1 : -1);
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {  // at most 63 rounds before it overflows
    if (__builtin_mul_overflow(result, base, &result)) return too_large();
  }
  return Value::integer(result);
}

std::int64_t floor_divided(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  return quotient - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
}

Result<Value> integer_operation(BinaryOperator operation, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (operation) {
    case BinaryOperator::add: overflows = __builtin_add_overflow(left, right, &result); break;
    case BinaryOperator::subtract: overflows = __builtin_sub_overflow(left, right, &result); break;
    case BinaryOperator::multiply: overflows = __builtin_mul_overflow(left, right, &result); break;
    case BinaryOperator::divide:
      if (right == 0) return division_by_zero();
      return Value::floating(static_cast<double>(left) / static_cast<double>(right));
    case BinaryOperator::floor_divide:
    case BinaryOperator::modulo:
      if (right == 0) return division_by_zero();
      // The one quotient that does not fit: the least number by -1.
      if (right == -1) {
        overflows = __builtin_sub_overflow(std::int64_t{0}, left, &result);
        if (operation == BinaryOperator::modulo) return Value::integer(0);
        break;
      }
      result = floor_divided(left, right);
      if (operation == BinaryOperator::modulo) result = left - result * right;
      break;
    case BinaryOperator::power: return integer_power(left, right);
  }
  if (overflows) return too_large();
  return Value::integer(result);
}

Result<Value> float_operation(BinaryOperator operation, double left, double right) {
  switch (operation) {
    case BinaryOperator::add: return Value::floating(left + right);
    case BinaryOperator::subtract: return Value::floating(left - right);
    case BinaryOperator::multiply: return Value::floating(left * right);
    case BinaryOperator::divide:
      if (right == 0) return division_by_zero();
      return Value::floating(left / right);
    case BinaryOperator::floor_divide:
    case BinaryOperator::modulo: {
      if (right == 0) return division_by_zero();
      double remainder = std::fmod(left, right);
      const double quotient = (left - remainder) / right;
      const bool crosses = remainder != 0 && (remainder < 0) != (right < 0);
      if (crosses) remainder += right;
      if (remainder == 0) remainder = std::copysign(0.0, right);
      if (operation == BinaryOperator::modulo) return Value::floating(remainder);
      double whole = std::floor(crosses ? quotient - 1 : quotient);
      if ((crosses ? quotient - 1 : quotient) - whole > 0.5) whole += 1;
      return Value::floating(whole);
    }
    case BinaryOperator::power:
      if (left == 0 && right < 0) return division_by_zero();
      if (left < 0 && right != std::floor(right)) {
        return Error::of(ErrorCode::unsupported, "expected a real power, found a root of a negative number");
      }
      return Value::floating(std::pow(left, right));
  }
  return division_by_zero();
}

Result<Value> add_texts(const Value& left, const Value& right, Runtime& runtime) {
  const bool is_markup = left.as_text().is_markup || right.as_text().is_markup;
  MarkedText text = is_markup ? TRY(escaped_text_of(left, runtime)) : MarkedText(left.as_text());
  const MarkedText added = is_markup ? TRY(escaped_text_of(right, runtime)) : MarkedText(right.as_text());
  TRY(runtime.budget.spend_bytes(text.bytes.size() + added.bytes.size()));
  text.append(added);
  return Value::text_like(std::move(text), is_markup);
}

Result<Value> add_sequences(const Value& left, const Value& right, Runtime& runtime) {
  std::vector<Value> items = left.items();
  TRY(runtime.budget.spend_bytes((items.size() + right.items().size()) * sizeof(Value)));
  items.insert(items.end(), right.items().begin(), right.items().end());
  return Value::sequence(left.is_list() ? SequenceForm::list : SequenceForm::tuple, std::move(items));
}

Result<std::size_t> repetitions(std::size_t bytes_each, std::int64_t count, Runtime& runtime) {
  if (count <= 0 || bytes_each == 0) return std::size_t{0};
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(bytes_each), static_cast<std::uint64_t>(count), &bytes)) {
    return Error::of(ErrorCode::overflow, "expected a smaller repetition, found ", count, " times");
  }
  TRY(runtime.budget.spend_bytes(bytes));
  return static_cast<std::size_t>(count);
}

Result<Value> repeat(const Value& value, std::int64_t count, Runtime& runtime) {
  if (value.is_text()) {
    const std::size_t times = TRY(repetitions(value.bytes().size(), count, runtime));
    std::string text;
    text.reserve(value.bytes().size() * times);
    for (std::size_t index = 0; index < times; ++index) text += value.bytes();
    return Value::text_like(MarkedText::made(std::move(text), value.is_marked()), value.as_text().is_markup);
  }
  const std::size_t times = TRY(repetitions(value.items().size() * sizeof(Value), count, runtime));
  std::vector<Value> items;
  items.reserve(value.items().size() * times);
  for (std::size_t index = 0; index < times; ++index) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return Value::sequence(value.is_list() ? SequenceForm::list : SequenceForm::tuple, std::move(items));
}

bool can_repeat(const Value& value) { return value.is_text() || value.is_list() || value.is_tuple(); }

}  // namespace

Result<Value> binary_operation(BinaryOperator operation, const Value& left, const Value& right, Runtime& runtime) {
  for (const Value* value : {&left, &right}) {
    if (value->is_undefined() && !(operation == BinaryOperator::modulo && left.is_text())) {
      return Error::of(ErrorCode::invalid_argument, value->undefined_reason());
    }
  }
  const auto left_integer = left.integer_value();
  const auto right_integer = right.integer_value();
  if (left_integer && right_integer) return integer_operation(operation, *left_integer, *right_integer);
  const auto left_number = left.number_value();
  const auto right_number = right.number_value();
  if (left_number && right_number) return float_operation(operation, *left_number, *right_number);
  if (operation == BinaryOperator::add) {
    if (left.is_text() && right.is_text()) return add_texts(left, right, runtime);
    if ((left.is_list() && right.is_list()) || (left.is_tuple() && right.is_tuple())) {
      return add_sequences(left, right, runtime);
    }
  }
  if (operation == BinaryOperator::multiply) {
    if (can_repeat(left) && right_integer) return repeat(left, *right_integer, runtime);
    if (can_repeat(right) && left_integer) return repeat(right, *left_integer, runtime);
  }
  if (operation == BinaryOperator::modulo && left.is_text()) return printf_format(left, right, runtime);
  return Error::of(ErrorCode::invalid_argument, "expected operands of ", symbol_of(operation), " that fit, found ",
                   left.type_name(), " and ", right.type_name());
}

Result<Value> negate(const Value& operand) {
  if (operand.is(Kind::floating)) return Value::floating(-operand.as_floating());
  if (const auto integer = operand.integer_value()) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, *integer, &result)) return too_large();
    return Value::integer(result);
  }
  return Error::of(ErrorCode::invalid_argument, "expected a number after -, found ", operand.type_name());
}

Result<Value> plus(const Value& operand) {
  if (operand.is(Kind::floating)) return operand;
  if (const auto integer = operand.integer_value()) return Value::integer(*integer);
  return Error::of(ErrorCode::invalid_argument, "expected a number after +, found ", operand.type_name());
}

std::string escape_markup(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (char character : text) {
    switch (character) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '\'': escaped += "&#39;"; break;
      case '"': escaped += "&#34;"; break;
      default: escaped += character;
    }
  }
  return escaped;
}

Result<MarkedText> escaped_text_of(const Value& value, Runtime& runtime) {
  if (value.is_text() && value.as_text().is_markup) return MarkedText(value.as_text());
  std::string escaped = escape_markup(TRY(text_of(value, runtime)));
  TRY(runtime.budget.spend_bytes(escaped.size()));
  return MarkedText::made(std::move(escaped), value.is_marked());
}

}  // namespace ingot::chat
