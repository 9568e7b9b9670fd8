// A parsed template. Expressions and statements are sums of plain structs; each knows its line.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/chat/functions/filters.h"
#include "model/chat/functions/predicates.h"
#include "model/chat/value.h"

namespace ingot::chat {

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;
struct Statement;
using Block = std::vector<Statement>;

struct CallArguments {
  std::vector<ExpressionPointer> positional;
  std::vector<std::pair<std::string, ExpressionPointer>> named;
  ExpressionPointer more_positional;  // *expression
  ExpressionPointer more_named;       // **expression
};

enum class UnaryOperator : std::uint8_t { negate, plus, logical_not };
enum class BinaryOperator : std::uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };
enum class LogicalOperator : std::uint8_t { logical_and, logical_or };
enum class Comparator : std::uint8_t { equal, not_equal, less, less_or_equal, greater, greater_or_equal, in, not_in };

struct Constant {
  Value value;
};
struct Name {
  std::string name;
};
struct SequenceLiteral {
  SequenceForm form;
  std::vector<ExpressionPointer> items;
};
struct DictionaryLiteral {
  std::vector<std::pair<ExpressionPointer, ExpressionPointer>> entries;
};
struct Unary {
  UnaryOperator operation;
  ExpressionPointer operand;
};
struct Binary {
  BinaryOperator operation;
  ExpressionPointer left, right;
};
struct Logical {
  LogicalOperator operation;
  ExpressionPointer left, right;
};
struct Comparison {
  ExpressionPointer first;
  std::vector<std::pair<Comparator, ExpressionPointer>> rest;
};
struct Concatenation {
  std::vector<ExpressionPointer> parts;
};
struct Conditional {
  ExpressionPointer condition, value, otherwise;  // otherwise may be null
};
struct AttributeAccess {
  ExpressionPointer object;
  std::string name;
};
struct ItemAccess {
  ExpressionPointer object, index;
};
struct SliceAccess {
  ExpressionPointer object, start, stop, step;  // each bound may be null
};
struct Call {
  ExpressionPointer callee;
  CallArguments arguments;
};
struct FilterUse {
  ExpressionPointer subject;  // null in a filter block: what the block gave
  std::string name;
  FilterFunction function;  // null for a name that nobody knows, which matters only when it is reached
  CallArguments arguments;
};
struct TestUse {
  ExpressionPointer subject;
  std::string name;
  PredicateFunction function;  // null likewise
  CallArguments arguments;
};

struct Expression {
  int line;
  int depth;
  std::variant<Constant, Name, SequenceLiteral, DictionaryLiteral, Unary, Binary, Logical, Comparison, Concatenation,
               Conditional, AttributeAccess, ItemAccess, SliceAccess, Call, FilterUse, TestUse>
      node;
};

// What a value is assigned to: a name, an attribute of a namespace, or several targets.
struct Target {
  std::string name;
  std::string attribute;      // of the namespace `name`; empty for a plain name
  std::vector<Target> parts;  // not empty: the value is taken apart
  bool is_tuple = false;
  int line = 0;
};

struct Parameter {
  std::string name;
  ExpressionPointer otherwise;  // null: undefined when not given
};
struct MacroDefinition {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  // Names that mean something only where the body uses them.
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

struct DataStatement {
  std::string text;
};
struct OutputStatement {
  ExpressionPointer value;
};
struct IfStatement {
  std::vector<std::pair<ExpressionPointer, Block>> branches;
  Block otherwise;
};
struct ForStatement {
  Target target;
  ExpressionPointer iterable;
  ExpressionPointer condition;  // may be null
  bool is_recursive = false;
  Block body;
  Block otherwise;
};
struct SetStatement {
  Target target;
  ExpressionPointer value;
};
struct SetBlockStatement {
  Target target;
  ExpressionPointer filter;  // may be null
  Block body;
};
struct MacroStatement {
  MacroDefinition macro;
};
struct CallBlockStatement {
  ExpressionPointer call;
  MacroDefinition caller;
};
struct FilterBlockStatement {
  ExpressionPointer filter;
  Block body;
};
struct WithStatement {
  std::vector<std::pair<Target, ExpressionPointer>> variables;
  Block body;
};
// A body with variables of its own: {% block %}, {% generation %}.
struct ScopeStatement {
  Block body;
};
struct BreakStatement {};
struct ContinueStatement {};
// Understood and not to be had, which matters only when it is reached.
struct UnavailableStatement {
  std::string what;
};

struct Statement {
  int line;
  std::variant<DataStatement, OutputStatement, IfStatement, ForStatement, SetStatement, SetBlockStatement,
               MacroStatement, CallBlockStatement, FilterBlockStatement, WithStatement, ScopeStatement, BreakStatement,
               ContinueStatement, UnavailableStatement>
      node;
};

}  // namespace ingot::chat
