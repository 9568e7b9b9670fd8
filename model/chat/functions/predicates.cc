#include "model/chat/functions/predicates.h"

#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/dictionary.h"
#include "model/chat/functions/filters.h"
#include "model/chat/functions/text_classes.h"
#include "model/chat/object.h"
#include "model/chat/runtime.h"
#include "model/chat/value_compare.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

// A test of the subject alone.
template <bool (*holds)(const Value&)>
Result<bool> plain(Runtime&, const Value& subject, const Arguments& arguments) {
  TRY(bind("a test", arguments, {}));
  return holds(subject);
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_boolean(const Value& value) { return value.is(Kind::boolean); }
bool is_true(const Value& value) { return value.is(Kind::boolean) && value.as_boolean(); }
bool is_false(const Value& value) { return value.is(Kind::boolean) && !value.as_boolean(); }
bool is_integer(const Value& value) { return value.is(Kind::integer); }
bool is_float(const Value& value) { return value.is(Kind::floating); }
bool is_number(const Value& value) { return value.number_value().has_value(); }
bool is_string(const Value& value) { return value.is_text(); }
bool is_mapping(const Value& value) { return value.is(Kind::dictionary); }
bool is_escaped(const Value& value) { return value.is_text() && value.as_text().is_markup; }
// Python's class Undefined has a length, items and a call, though they only fail.
bool is_callable(const Value& value) {
  return value.is_undefined() || (value.is(Kind::object) && value.as_object()->is_callable());
}
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is_list() || value.is_tuple() || value.is(Kind::dictionary) ||
         value.is(Kind::range);
}

template <bool (*holds)(std::string_view)>
Result<bool> of_text(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("a test", arguments, {}));
  return holds(TRY(text_of(subject, runtime)));
}

Result<bool> remainder_is(const Value& subject, const Value& divisor, std::int64_t remainder, Runtime& runtime) {
  const Value actual = TRY(binary_operation(BinaryOperator::modulo, subject, divisor, runtime));
  return equal(actual, Value::integer(remainder), runtime.budget);
}

template <std::int64_t remainder>
Result<bool> parity(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  TRY(bind("odd or even", arguments, {}));
  return remainder_is(subject, Value::integer(2), remainder, runtime);
}

Result<bool> divisibleby(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("divisibleby", arguments, {"num"}, 1));
  return remainder_is(subject, bound[0], 0, runtime);
}

Result<bool> equals(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("eq", arguments, {"other"}, 1));
  return equal(subject, bound[0], runtime.budget);
}

Result<bool> differs(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  return !TRY(equals(runtime, subject, arguments));
}

template <Order order>
Result<bool> compares(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("a comparison", arguments, {"other"}, 1));
  return ordered(subject, order, bound[0], runtime.budget);
}

Result<bool> is_in(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("in", arguments, {"seq"}, 1));
  return contains(bound[0], subject, runtime.budget);
}

Result<bool> sameas(Runtime&, const Value& subject, const Arguments& arguments) {
  const BoundArguments bound = TRY(bind("sameas", arguments, {"other"}, 1));
  return subject.is_same_as(bound[0]);
}

Result<bool> is_filter(Runtime&, const Value& subject, const Arguments& arguments) {
  TRY(bind("filter", arguments, {}));
  TRY(expect_key(subject));
  return subject.is_text() && find_filter(subject.bytes()) != nullptr;
}

Result<bool> is_test(Runtime&, const Value& subject, const Arguments& arguments) {
  TRY(bind("test", arguments, {}));
  TRY(expect_key(subject));
  return subject.is_text() && find_predicate(subject.bytes()) != nullptr;
}

struct Predicate {
  std::string_view name;
  PredicateFunction function;
};

constexpr Predicate predicates[] = {
    {"!=", differs},
    {"<", compares<Order::less>},
    {"<=", compares<Order::less_or_equal>},
    {"==", equals},
    {">", compares<Order::greater>},
    {">=", compares<Order::greater_or_equal>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", divisibleby},
    {"eq", equals},
    {"equalto", equals},
    {"escaped", plain<is_escaped>},
    {"even", parity<0>},
    {"false", plain<is_false>},
    {"filter", is_filter},
    {"float", plain<is_float>},
    {"ge", compares<Order::greater_or_equal>},
    {"greaterthan", compares<Order::greater>},
    {"gt", compares<Order::greater>},
    {"in", is_in},
    {"integer", plain<is_integer>},
    {"iterable", plain<is_iterable>},
    {"le", compares<Order::less_or_equal>},
    {"lessthan", compares<Order::less>},
    {"lower", of_text<is_lower_text>},
    {"lt", compares<Order::less>},
    {"mapping", plain<is_mapping>},
    {"ne", differs},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", parity<1>},
    {"sameas", sameas},
    {"sequence", plain<is_sequence>},
    {"string", plain<is_string>},
    {"test", is_test},
    {"true", plain<is_true>},
    {"undefined", plain<is_undefined>},
    {"upper", of_text<is_upper_text>},
};

}  // namespace

PredicateFunction find_predicate(std::string_view name) {
  for (const Predicate& predicate : predicates) {
    if (predicate.name == name) return predicate.function;
  }
  return nullptr;
}

}  // namespace ingot::chat
