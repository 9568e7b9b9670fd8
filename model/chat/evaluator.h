// Walks a syntax tree: statements write to the output, expressions give values.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/dictionary.h"
#include "model/chat/runtime.h"
#include "model/chat/scope.h"
#include "model/chat/syntax/syntax_tree.h"

namespace ingot::chat {

class Loop;

class Evaluator {
 public:
  // Both must outlive the evaluator, and the tree must outlive the runtime: macros are values that refer to it.
  Evaluator(const Dictionary& context, Runtime& runtime)
      : context_(context), runtime_(runtime), scope_(std::make_shared<Scope>()) {}

  Result<MarkedText> render(const Block& block);

  Result<Value> call_macro(const MacroDefinition& macro, const std::shared_ptr<Scope>& around,
                           const Arguments& arguments);
  // A loop that calls itself: loop(children).
  Result<Value> call_loop(const ForStatement& statement, const std::shared_ptr<Scope>& around, const Value& iterable,
                          int depth);

 private:
  enum class Flow : std::uint8_t { goes_on, breaks, continues };

  // Another scope and output for as long as it lives.
  class Frame {
   public:
    Frame(Evaluator& evaluator, std::shared_ptr<Scope> around, MarkedText* output);
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Evaluator& evaluator_;
    std::shared_ptr<Scope> scope_;
    MarkedText* output_;
  };

  // Statements.
  Result<Flow> execute(const Block& block);
  Result<Flow> execute(const Statement& statement);
  Result<Flow> run(const DataStatement& statement);
  Result<Flow> run(const OutputStatement& statement);
  Result<Flow> run(const IfStatement& statement);
  Result<Flow> run(const ForStatement& statement);
  Result<Flow> run(const SetStatement& statement);
  Result<Flow> run(const SetBlockStatement& statement);
  Result<Flow> run(const MacroStatement& statement);
  Result<Flow> run(const CallBlockStatement& statement);
  Result<Flow> run(const FilterBlockStatement& statement);
  Result<Flow> run(const WithStatement& statement);
  Result<Flow> run(const ScopeStatement& statement);
  Result<Flow> run(const BreakStatement& statement);
  Result<Flow> run(const ContinueStatement& statement);
  Result<Flow> run(const UnavailableStatement& statement);

  Result<void> run_loop(const ForStatement& statement, const Value& iterable, int depth);
  Result<bool> run_rounds(const ForStatement& statement, const std::shared_ptr<Loop>& loop,
                          const std::shared_ptr<Scope>& around);
  // What the body of a block writes, through a filter where there is one.
  Result<Value> captured(const Block& body, const ExpressionPointer& filter);
  Result<Value> make_macro(const MacroDefinition& macro);
  Result<void> bind_parameters(const MacroDefinition& macro, const Arguments& arguments);
  Result<void> bind_special(const MacroDefinition& macro, const Arguments& arguments);
  Result<void> assign(const Target& target, Value value);
  Result<void> write(std::string_view own);
  Result<void> write(const MarkedText& text);
  Result<void> write(const Value& value);
  Result<void> make_room(std::size_t bytes);

  // Expressions.
  Result<Value> evaluate(const Expression& expression);
  Result<Value> evaluate_or_none(const ExpressionPointer& expression);
  Result<Value> value_of(const Constant& node);
  Result<Value> value_of(const Name& node);
  Result<Value> value_of(const SequenceLiteral& node);
  Result<Value> value_of(const DictionaryLiteral& node);
  Result<Value> value_of(const Unary& node);
  Result<Value> value_of(const Binary& node);
  Result<Value> value_of(const Logical& node);
  Result<Value> value_of(const Comparison& node);
  Result<Value> value_of(const Concatenation& node);
  Result<Value> value_of(const Conditional& node);
  Result<Value> value_of(const AttributeAccess& node);
  Result<Value> value_of(const ItemAccess& node);
  Result<Value> value_of(const SliceAccess& node);
  Result<Value> value_of(const Call& node);
  Result<Value> value_of(const FilterUse& node);
  Result<Value> value_of(const TestUse& node);
  Result<Value> call(const Call& node, const Value* caller);
  Result<Arguments> evaluate_arguments(const CallArguments& arguments);
  Result<Value> look_up(std::string_view name);

  // The innermost place that knows its line says so, once.
  Error located(const Error& error, int line);
  template <class Outcome>
  Outcome exhausted(int line);
  template <class Outcome>
  void finish_failed(Outcome& outcome, int line);
  void refuse_deep(Result<Value>& value, int line);

  const Dictionary& context_;
  Runtime& runtime_;
  std::shared_ptr<Scope> scope_;
  MarkedText* output_ = nullptr;
  Value block_text_;  // what a filter block's first filter applies to
  bool is_located_ = false;
};

}  // namespace ingot::chat
