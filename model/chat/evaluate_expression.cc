#include "model/chat/access.h"
#include "model/chat/arithmetic.h"
#include "model/chat/evaluator.h"
#include "model/chat/functions/globals.h"
#include "model/chat/value_compare.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

namespace {

Result<bool> compare(Comparator comparator, const Value& left, const Value& right, Budget& budget) {
  switch (comparator) {
    case Comparator::equal: return equal(left, right, budget);
    case Comparator::not_equal: return !TRY(equal(left, right, budget));
    case Comparator::less: return ordered(left, Order::less, right, budget);
    case Comparator::less_or_equal: return ordered(left, Order::less_or_equal, right, budget);
    case Comparator::greater: return ordered(left, Order::greater, right, budget);
    case Comparator::greater_or_equal: return ordered(left, Order::greater_or_equal, right, budget);
    case Comparator::in: return contains(right, left, budget);
    case Comparator::not_in: return !TRY(contains(right, left, budget));
  }
  return false;
}

}  // namespace

Error Evaluator::located(const Error& error, int line) {
  if (std::exchange(is_located_, true)) return error;
  return error.within("line ", line);
}

// Errors are made out of line and results where the caller wants them: an evaluator's frames are many, and the room for
// an error is large.
template <class Outcome>
[[gnu::noinline]] void Evaluator::finish_failed(Outcome& outcome, int line) {
  outcome = located(outcome.error(), line);
}

[[gnu::noinline]] void Evaluator::refuse_deep(Result<Value>& value, int line) {
  value = located(Error::of(ErrorCode::out_of_range, "expected values at most ", deepest_value,
                            " deep inside one another, found a deeper one"),
                  line);
}

template <class Outcome>
[[gnu::noinline]] Outcome Evaluator::exhausted(int line) {
  const Runtime::Level level(runtime_);
  const auto deep_enough = level.check();
  if (!deep_enough.ok()) return located(deep_enough.error(), line);
  return located(runtime_.budget.spend_steps(runtime_.budget.limits().steps + 1).error(), line);
}

Result<Value> Evaluator::evaluate(const Expression& expression) {
  const Runtime::Level level(runtime_);
  const bool may_go_on = level.is_allowed() && runtime_.budget.take_step();
  Result<Value> value = may_go_on ? std::visit([this](const auto& node) { return value_of(node); }, expression.node)
                                  : exhausted<Result<Value>>(expression.line);
  if (!value.ok()) {
    finish_failed(value, expression.line);
  } else if (value.value().depth() > deepest_value) {
    refuse_deep(value, expression.line);
  }
  return value;
}

Result<Evaluator::Flow> Evaluator::execute(const Statement& statement) {
  const Runtime::Level level(runtime_);
  const bool may_go_on = level.is_allowed() && runtime_.budget.take_step();
  Result<Flow> flow = may_go_on ? std::visit([this](const auto& node) { return run(node); }, statement.node)
                                : exhausted<Result<Flow>>(statement.line);
  if (!flow.ok()) finish_failed(flow, statement.line);
  return flow;
}

Result<Value> Evaluator::evaluate_or_none(const ExpressionPointer& expression) {
  if (expression == nullptr) return Value();
  return evaluate(*expression);
}

Result<Value> Evaluator::value_of(const Constant& node) { return node.value; }
Result<Value> Evaluator::value_of(const Name& node) { return look_up(node.name); }

Result<Value> Evaluator::look_up(std::string_view name) {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    TRY(runtime_.budget.spend_steps(scope->variables.size() / 16));
    if (const Value* value = scope->find(name)) return *value;
  }
  if (const Value* value = context_.find(name)) return *value;
  if (std::optional<Value> global = find_global(name)) return *std::move(global);
  return Value::undefined("expected a variable '" + std::string(name) + "', found it undefined");
}

Result<Value> Evaluator::value_of(const SequenceLiteral& node) {
  TRY(runtime_.budget.spend_bytes(sizeof(Sequence) + node.items.size() * sizeof(Value)));
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const ExpressionPointer& item : node.items) items.push_back(TRY(evaluate(*item)));
  return Value::sequence(node.form, std::move(items));
}

Result<Value> Evaluator::value_of(const DictionaryLiteral& node) {
  TRY(runtime_.budget.spend_bytes(sizeof(Dictionary) + node.entries.size() * 4 * sizeof(Value)));
  Dictionary dictionary;
  for (const auto& [key_expression, value_expression] : node.entries) {
    Value key = TRY(evaluate(*key_expression));
    Value value = TRY(evaluate(*value_expression));
    const std::string_view key_type = key.type_name();
    if (!dictionary.insert(std::move(key), std::move(value))) {
      return Error::of(ErrorCode::invalid_argument, "expected a value that can be a key, found ", key_type);
    }
  }
  return Value::dictionary(std::move(dictionary));
}

Result<Value> Evaluator::value_of(const Unary& node) {
  const Value operand = TRY(evaluate(*node.operand));
  if (node.operation == UnaryOperator::logical_not) return Value::boolean(!truth(operand));
  if (operand.is_undefined()) return Error::of(ErrorCode::invalid_argument, operand.undefined_reason());
  return node.operation == UnaryOperator::negate ? negate(operand) : plus(operand);
}

Result<Value> Evaluator::value_of(const Binary& node) {
  const Value left = TRY(evaluate(*node.left));
  const Value right = TRY(evaluate(*node.right));
  return binary_operation(node.operation, left, right, runtime_);
}

Result<Value> Evaluator::value_of(const Logical& node) {
  Value left = TRY(evaluate(*node.left));
  if (truth(left) == (node.operation == LogicalOperator::logical_or)) return left;
  return evaluate(*node.right);
}

Result<Value> Evaluator::value_of(const Comparison& node) {
  Value left = TRY(evaluate(*node.first));
  for (const auto& [comparator, expression] : node.rest) {
    Value right = TRY(evaluate(*expression));
    if (!TRY(compare(comparator, left, right, runtime_.budget))) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Evaluator::value_of(const Concatenation& node) {
  MarkedText text;
  for (const ExpressionPointer& part : node.parts) {
    const Value value = TRY(evaluate(*part));
    text.append(TRY(marked_text_of(value, runtime_)));
  }
  return Value::text(std::move(text));
}

Result<Value> Evaluator::value_of(const Conditional& node) {
  const Value condition = TRY(evaluate(*node.condition));
  if (truth(condition)) return evaluate(*node.value);
  if (node.otherwise != nullptr) return evaluate(*node.otherwise);
  return Value::undefined("expected an else for a condition that is false, found none");
}

Result<Value> Evaluator::value_of(const AttributeAccess& node) {
  const Value object = TRY(evaluate(*node.object));
  return get_attribute(object, node.name, runtime_);
}

Result<Value> Evaluator::value_of(const ItemAccess& node) {
  const Value object = TRY(evaluate(*node.object));
  const Value index = TRY(evaluate(*node.index));
  return get_item(object, index, runtime_);
}

Result<Value> Evaluator::value_of(const SliceAccess& node) {
  const Value object = TRY(evaluate(*node.object));
  const Value start = TRY(evaluate_or_none(node.start));
  const Value stop = TRY(evaluate_or_none(node.stop));
  const Value step = TRY(evaluate_or_none(node.step));
  return slice(object, start, stop, step, runtime_);
}

Result<Arguments> Evaluator::evaluate_arguments(const CallArguments& arguments) {
  Arguments evaluated;
  for (const ExpressionPointer& argument : arguments.positional) {
    evaluated.positional.push_back(TRY(evaluate(*argument)));
  }
  for (const auto& [name, argument] : arguments.named) evaluated.named.emplace_back(name, TRY(evaluate(*argument)));
  if (arguments.more_positional != nullptr) {
    const Value more = TRY(evaluate(*arguments.more_positional));
    for (Value& item : TRY(items_of(more, runtime_))) {
      evaluated.positional.push_back(std::move(item));
    }
  }
  if (arguments.more_named != nullptr) {
    const Value more = TRY(evaluate(*arguments.more_named));
    if (!more.is(Kind::dictionary)) {
      return Error::of(ErrorCode::invalid_argument, "expected a dictionary after **, found ", more.type_name());
    }
    TRY(runtime_.budget.spend_bytes(more.as_dictionary().size() * 4 * sizeof(Value)));
    for (const Dictionary::Entry& entry : more.as_dictionary().entries()) {
      if (!entry.key.is_text()) {
        return Error::of(ErrorCode::invalid_argument, "expected texts as names after **, found ",
                         entry.key.type_name());
      }
      evaluated.named.emplace_back(entry.key.bytes(), entry.value);
    }
  }
  return evaluated;
}

Result<Value> Evaluator::value_of(const Call& node) { return call(node, nullptr); }

Result<Value> Evaluator::call(const Call& node, const Value* caller) {
  const Value callee = TRY(evaluate(*node.callee));
  Arguments arguments = TRY(evaluate_arguments(node.arguments));
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  if (callee.is_undefined()) return Error::of(ErrorCode::invalid_argument, callee.undefined_reason());
  if (!callee.is(Kind::object)) {
    return Error::of(ErrorCode::invalid_argument, "expected something to call, found ", callee.type_name());
  }
  return callee.as_object()->call(runtime_, arguments);
}

Result<Value> Evaluator::value_of(const FilterUse& node) {
  if (node.function == nullptr) return Error::of(ErrorCode::not_found, "expected a filter, found '", node.name, "'");
  const Value subject = node.subject == nullptr ? block_text_ : TRY(evaluate(*node.subject));
  const Arguments arguments = TRY(evaluate_arguments(node.arguments));
  return node.function(runtime_, subject, arguments);
}

Result<Value> Evaluator::value_of(const TestUse& node) {
  if (node.function == nullptr) return Error::of(ErrorCode::not_found, "expected a test, found '", node.name, "'");
  const Value subject = TRY(evaluate(*node.subject));
  const Arguments arguments = TRY(evaluate_arguments(node.arguments));
  return Value::boolean(TRY(node.function(runtime_, subject, arguments)));
}

}  // namespace ingot::chat
