#include "model/chat/access.h"
#include "model/chat/evaluator.h"
#include "model/chat/loop.h"
#include "model/chat/macro.h"
#include "model/chat/value_compare.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

Evaluator::Frame::Frame(Evaluator& evaluator, std::shared_ptr<Scope> around, MarkedText* output)
    : evaluator_(evaluator), scope_(evaluator.scope_), output_(evaluator.output_) {
  evaluator_.scope_ = std::make_shared<Scope>(Scope{std::move(around), {}});
  evaluator_.output_ = output;
}

Evaluator::Frame::~Frame() {
  evaluator_.scope_ = std::move(scope_);
  evaluator_.output_ = output_;
}

Result<MarkedText> Evaluator::render(const Block& block) {
  MarkedText text;
  output_ = &text;
  TRY(execute(block));
  return text;
}

Result<void> Evaluator::make_room(std::size_t bytes) {
  TRY(runtime_.budget.spend_bytes(bytes));
  const std::uint64_t most = runtime_.budget.limits().output_bytes;
  if (output_->bytes.size() + bytes <= most) return {};
  return Error::of(ErrorCode::out_of_range, "expected at most ", most, " bytes of output, found more");
}

Result<void> Evaluator::write(std::string_view own) {
  TRY(make_room(own.size()));
  output_->append(own);
  return {};
}

Result<void> Evaluator::write(const MarkedText& text) {
  TRY(make_room(text.bytes.size()));
  output_->append(text);
  return {};
}

Result<void> Evaluator::write(const Value& value) {
  if (value.is_text()) return write(value.as_text());
  return write(TRY(marked_text_of(value, runtime_)));
}

Result<Evaluator::Flow> Evaluator::execute(const Block& block) {
  for (const Statement& statement : block) {
    const Flow flow = TRY(execute(statement));
    if (flow != Flow::goes_on) return flow;
  }
  return Flow::goes_on;
}

Result<Evaluator::Flow> Evaluator::run(const DataStatement& statement) {
  TRY(write(statement.text));
  return Flow::goes_on;
}

Result<Evaluator::Flow> Evaluator::run(const OutputStatement& statement) {
  const Value value = TRY(evaluate(*statement.value));
  TRY(write(value));
  return Flow::goes_on;
}

Result<Evaluator::Flow> Evaluator::run(const IfStatement& statement) {
  for (const auto& [condition, body] : statement.branches) {
    const Value value = TRY(evaluate(*condition));
    if (truth(value)) return execute(body);
  }
  return execute(statement.otherwise);
}

Result<Evaluator::Flow> Evaluator::run(const ForStatement& statement) {
  const Value iterable = TRY(evaluate(*statement.iterable));
  TRY(run_loop(statement, iterable, 0));
  return Flow::goes_on;
}

Result<void> Evaluator::run_loop(const ForStatement& statement, const Value& iterable, int depth) {
  std::vector<Value> items = TRY(items_of(iterable, runtime_));
  const bool is_countable = statement.condition == nullptr && !iterable.is(Kind::iterator);
  const std::shared_ptr<Scope> around = scope_;
  std::size_t position = 0;
  const auto count = static_cast<std::int64_t>(items.size());
  // Refers to this function's variables: the loop is released before it returns.
  Loop::Draw draw = [&]() -> Result<std::optional<Value>> {
    while (position < items.size()) {
      Value item = std::move(items[position++]);
      if (statement.condition == nullptr) return std::optional(std::move(item));
      const Frame frame(*this, around, output_);
      TRY(assign(statement.target, item));
      const Value condition = TRY(evaluate(*statement.condition));
      if (truth(condition)) return std::optional(std::move(item));
    }
    return std::optional<Value>();
  };
  Loop::Recursion recursion;
  if (statement.is_recursive) {
    recursion = [this, &statement, around, depth](const Value& children) {
      return call_loop(statement, around, children, depth + 1);
    };
  }
  const auto loop = std::make_shared<Loop>(std::move(draw), is_countable ? std::optional(count) : std::nullopt, depth,
                                           std::move(recursion));
  const auto any_round = run_rounds(statement, loop, around);
  loop->release();
  if (!any_round.ok()) return any_round.error();
  if (any_round.value() || statement.otherwise.empty()) return {};
  const Frame frame(*this, around, output_);
  TRY(execute(statement.otherwise));
  return {};
}

Result<bool> Evaluator::run_rounds(const ForStatement& statement, const std::shared_ptr<Loop>& loop,
                                   const std::shared_ptr<Scope>& around) {
  bool any_round = false;
  while (TRY(loop->advance())) {
    any_round = true;
    TRY(runtime_.budget.spend_steps(1));
    const Frame frame(*this, around, output_);
    scope_->set("loop", Value::object(loop));
    TRY(assign(statement.target, loop->current()));
    if (TRY(execute(statement.body)) == Flow::breaks) break;
  }
  return any_round;
}

Result<Value> Evaluator::call_loop(const ForStatement& statement, const std::shared_ptr<Scope>& around,
                                   const Value& iterable, int depth) {
  const Runtime::Level level(runtime_, 4);
  TRY(level.check());
  MarkedText text;
  const Frame frame(*this, around, &text);
  TRY(run_loop(statement, iterable, depth));
  return Value::text(std::move(text));
}

Result<Evaluator::Flow> Evaluator::run(const SetStatement& statement) {
  Value value = TRY(evaluate(*statement.value));
  TRY(assign(statement.target, std::move(value)));
  return Flow::goes_on;
}

Result<void> Evaluator::assign(const Target& target, Value value) {
  if (target.is_tuple) {
    std::vector<Value> items = TRY(items_of(value, runtime_));
    if (items.size() != target.parts.size()) {
      return Error::of(ErrorCode::invalid_argument, "expected ", target.parts.size(), " values to unpack, found ",
                       items.size());
    }
    for (std::size_t index = 0; index < items.size(); ++index) {
      TRY(assign(target.parts[index], std::move(items[index])));
    }
    return {};
  }
  if (target.attribute.empty()) {
    TRY(runtime_.budget.spend_steps(scope_->variables.size() / 16));
    scope_->set(target.name, std::move(value));
    return {};
  }
  const Value owner = TRY(look_up(target.name));
  if (owner.is_undefined()) return Error::of(ErrorCode::invalid_argument, owner.undefined_reason());
  if (!owner.is(Kind::object)) {
    return Error::of(ErrorCode::invalid_argument, "expected a namespace to set '", target.attribute, "' of, found ",
                     owner.type_name());
  }
  return owner.as_object()->set_attribute(target.attribute, std::move(value));
}

Result<Value> Evaluator::captured(const Block& body, const ExpressionPointer& filter) {
  MarkedText text;
  const Frame frame(*this, scope_, &text);
  TRY(execute(body));
  if (filter == nullptr) return Value::text(std::move(text));
  Value outer = std::exchange(block_text_, Value::text(std::move(text)));
  Result<Value> filtered = evaluate(*filter);
  block_text_ = std::move(outer);
  return filtered;
}

Result<Evaluator::Flow> Evaluator::run(const SetBlockStatement& statement) {
  Value value = TRY(captured(statement.body, statement.filter));
  TRY(assign(statement.target, std::move(value)));
  return Flow::goes_on;
}

Result<Evaluator::Flow> Evaluator::run(const FilterBlockStatement& statement) {
  const Value value = TRY(captured(statement.body, statement.filter));
  TRY(write(value));
  return Flow::goes_on;
}

Result<Value> Evaluator::make_macro(const MacroDefinition& macro) {
  auto object = std::make_shared<Macro>(*this, macro, scope_);
  TRY(runtime_.keep(object));
  return Value::object(std::move(object));
}

Result<Evaluator::Flow> Evaluator::run(const MacroStatement& statement) {
  scope_->set(statement.macro.name, TRY(make_macro(statement.macro)));
  return Flow::goes_on;
}

Result<Evaluator::Flow> Evaluator::run(const CallBlockStatement& statement) {
  const Value caller = TRY(make_macro(statement.caller));
  const Value value = TRY(call(std::get<Call>(statement.call->node), &caller));
  TRY(write(value));
  return Flow::goes_on;
}

Result<Value> Evaluator::call_macro(const MacroDefinition& macro, const std::shared_ptr<Scope>& around,
                                    const Arguments& arguments) {
  const Runtime::Level level(runtime_);
  TRY(level.check());
  MarkedText text;
  const Frame frame(*this, around, &text);
  TRY(bind_special(macro, arguments));
  TRY(bind_parameters(macro, arguments));
  TRY(execute(macro.body));
  return Value::text(std::move(text));
}

// varargs, kwargs and caller take what no parameter takes; where the body does not use them, that is an error.
Result<void> Evaluator::bind_special(const MacroDefinition& macro, const Arguments& arguments) {
  std::vector<Value> more_positional;
  for (std::size_t index = macro.parameters.size(); index < arguments.positional.size(); ++index) {
    more_positional.push_back(arguments.positional[index]);
  }
  if (!more_positional.empty() && !macro.uses_varargs) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", macro.parameters.size(), " arguments of macro ",
                     macro.name, ", found ", arguments.positional.size());
  }
  Dictionary more_named;
  Value caller = Value::undefined("expected a caller, found the macro called without a call block");
  for (const auto& [name, value] : arguments.named) {
    std::size_t place = 0;
    while (place < macro.parameters.size() && macro.parameters[place].name != name) ++place;
    if (place < macro.parameters.size() && place >= arguments.positional.size()) continue;
    if (name == "caller" && macro.uses_caller && place == macro.parameters.size()) {
      caller = value;
    } else if (macro.uses_kwargs) {
      more_named.insert(name, value);
    } else {
      return Error::of(ErrorCode::invalid_argument, "expected a parameter of macro ", macro.name, ", found '", name,
                       "'");
    }
  }
  if (macro.uses_caller) scope_->set("caller", caller);
  if (macro.uses_varargs) scope_->set("varargs", Value::tuple(std::move(more_positional)));
  if (macro.uses_kwargs) scope_->set("kwargs", Value::dictionary(std::move(more_named)));
  return {};
}

Result<void> Evaluator::bind_parameters(const MacroDefinition& macro, const Arguments& arguments) {
  for (std::size_t index = 0; index < macro.parameters.size(); ++index) {
    const Parameter& parameter = macro.parameters[index];
    const Value* given = index < arguments.positional.size() ? &arguments.positional[index] : nullptr;
    for (const auto& [name, value] : arguments.named) {
      if (given == nullptr && name == parameter.name) given = &value;
    }
    if (given != nullptr) {
      scope_->set(parameter.name, *given);
    } else if (parameter.otherwise != nullptr) {
      scope_->set(parameter.name, TRY(evaluate(*parameter.otherwise)));
    } else {
      scope_->set(parameter.name, Value::undefined("expected parameter '" + parameter.name + "' of macro " +
                                                   macro.name + ", found it not given"));
    }
  }
  return {};
}

Result<Evaluator::Flow> Evaluator::run(const WithStatement& statement) {
  // The values are of the scope outside: {% with a = 1, b = a %} takes b from there.
  std::vector<Value> values;
  for (const auto& [target, expression] : statement.variables) values.push_back(TRY(evaluate(*expression)));
  const Frame frame(*this, scope_, output_);
  for (std::size_t index = 0; index < values.size(); ++index) {
    TRY(assign(statement.variables[index].first, std::move(values[index])));
  }
  return execute(statement.body);
}

Result<Evaluator::Flow> Evaluator::run(const ScopeStatement& statement) {
  const Frame frame(*this, scope_, output_);
  return execute(statement.body);
}

Result<Evaluator::Flow> Evaluator::run(const BreakStatement&) { return Flow::breaks; }
Result<Evaluator::Flow> Evaluator::run(const ContinueStatement&) { return Flow::continues; }

Result<Evaluator::Flow> Evaluator::run(const UnavailableStatement& statement) {
  return Error::of(ErrorCode::unsupported, "expected a tag that one template alone can serve, found {% ",
                   statement.what, " %}");
}

}  // namespace ingot::chat
