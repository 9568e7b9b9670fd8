#include "model/chat/syntax/expression_parser.h"

#include <optional>

#include "model/chat/syntax/tree_depth.h"

namespace ingot::chat {

namespace {

constexpr int deepest_recursion = 100;

std::optional<Comparator> comparator_of(const Token& token) {
  if (token.kind != TokenKind::symbol) return std::nullopt;
  if (token.text == "==") return Comparator::equal;
  if (token.text == "!=") return Comparator::not_equal;
  if (token.text == "<") return Comparator::less;
  if (token.text == "<=") return Comparator::less_or_equal;
  if (token.text == ">") return Comparator::greater;
  if (token.text == ">=") return Comparator::greater_or_equal;
  return std::nullopt;
}

std::optional<BinaryOperator> operator_of(const Token& token) {
  if (token.kind != TokenKind::symbol) return std::nullopt;
  if (token.text == "+") return BinaryOperator::add;
  if (token.text == "-") return BinaryOperator::subtract;
  if (token.text == "*") return BinaryOperator::multiply;
  if (token.text == "/") return BinaryOperator::divide;
  if (token.text == "//") return BinaryOperator::floor_divide;
  if (token.text == "%") return BinaryOperator::modulo;
  return std::nullopt;
}

bool is_sum(BinaryOperator operation) {
  return operation == BinaryOperator::add || operation == BinaryOperator::subtract;
}

}  // namespace

Result<void> UnknownNames::reject_since(std::size_t mark) const {
  if (uses_.size() <= mark) return {};
  return Error::of(ErrorCode::not_found, "line ", uses_[mark].line, ": expected the name of ", uses_[mark].what);
}

Result<void> ExpressionParser::Level::check() const {
  if (parser_.level_ <= deepest_recursion) return {};
  return Error::of(ErrorCode::out_of_range, "line ", parser_.tokens.line(), ": expected at most ", deepest_recursion,
                   " levels of nesting, found more");
}

Result<ExpressionPointer> ExpressionParser::parse_expression(Conditionals conditionals) {
  return conditionals == Conditionals::allowed ? parse_conditional() : parse_or();
}

Result<ExpressionPointer> ExpressionParser::parse_tuple(Conditionals conditionals, std::string_view end_name) {
  const int line = tokens.line();
  std::vector<ExpressionPointer> items;
  bool is_tuple = false;
  while (true) {
    const TokenKind kind = tokens.current().kind;
    const bool at_end = kind == TokenKind::variable_end || kind == TokenKind::block_end ||
                        tokens.current().is_symbol(")") || (!end_name.empty() && tokens.current().is_name(end_name));
    if (at_end) break;
    items.push_back(TRY(parse_expression(conditionals)));
    if (!tokens.skip_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (items.empty()) return tokens.unexpected("an expression");
    return std::move(items[0]);
  }
  const int depth = depth_over_all(items);
  return make(line, depth, SequenceLiteral{SequenceForm::tuple, std::move(items)});
}

Result<ExpressionPointer> ExpressionParser::parse_conditional() {
  const Level level(*this);
  TRY(level.check());
  const std::size_t mark = unknown_names.mark();
  ExpressionPointer value = TRY(parse_or());
  while (tokens.current().is_name("if")) {
    const int line = tokens.take().line;
    ExpressionPointer condition = TRY(parse_or());
    ExpressionPointer otherwise;
    if (tokens.skip_name("else")) otherwise = TRY(parse_conditional());
    unknown_names.allow_since(mark);
    const int depth = depth_over(condition, value, otherwise);
    value = TRY(make(line, depth, Conditional{std::move(condition), std::move(value), std::move(otherwise)}));
  }
  return value;
}

Result<ExpressionPointer> ExpressionParser::parse_or() {
  ExpressionPointer left = TRY(parse_and());
  while (tokens.current().is_name("or")) {
    const int line = tokens.take().line;
    ExpressionPointer right = TRY(parse_and());
    const int depth = depth_over(left, right);
    left = TRY(make(line, depth, Logical{LogicalOperator::logical_or, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExpressionPointer> ExpressionParser::parse_and() {
  ExpressionPointer left = TRY(parse_not());
  while (tokens.current().is_name("and")) {
    const int line = tokens.take().line;
    ExpressionPointer right = TRY(parse_not());
    const int depth = depth_over(left, right);
    left = TRY(make(line, depth, Logical{LogicalOperator::logical_and, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExpressionPointer> ExpressionParser::parse_not() {
  if (!tokens.current().is_name("not")) return parse_comparison();
  const Level level(*this);
  TRY(level.check());
  const int line = tokens.take().line;
  ExpressionPointer operand = TRY(parse_not());
  const int depth = depth_over(operand);
  return make(line, depth, Unary{UnaryOperator::logical_not, std::move(operand)});
}

Result<ExpressionPointer> ExpressionParser::parse_comparison() {
  const int line = tokens.line();
  ExpressionPointer first = TRY(parse_sum());
  std::vector<std::pair<Comparator, ExpressionPointer>> rest;
  int depth = depth_of(first);
  while (true) {
    Comparator comparator = Comparator::in;
    if (const auto symbol = comparator_of(tokens.current())) {
      comparator = *symbol;
      tokens.take();
    } else if (tokens.current().is_name("not") && tokens.ahead().is_name("in")) {
      comparator = Comparator::not_in;
      tokens.take();
      tokens.take();
    } else if (!tokens.skip_name("in")) {
      break;
    }
    rest.emplace_back(comparator, TRY(parse_sum()));
    depth = std::max(depth, depth_of(rest.back().second));
  }
  if (rest.empty()) return first;
  return make(line, depth + 1, Comparison{std::move(first), std::move(rest)});
}

Result<ExpressionPointer> ExpressionParser::parse_sum() {
  ExpressionPointer left = TRY(parse_concatenation());
  for (auto symbol = operator_of(tokens.current()); symbol && is_sum(*symbol); symbol = operator_of(tokens.current())) {
    const int line = tokens.take().line;
    ExpressionPointer right = TRY(parse_concatenation());
    const int depth = depth_over(left, right);
    left = TRY(make(line, depth, Binary{*symbol, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExpressionPointer> ExpressionParser::parse_concatenation() {
  const int line = tokens.line();
  std::vector<ExpressionPointer> parts;
  do parts.push_back(TRY(parse_product()));
  while (tokens.skip_symbol("~"));
  if (parts.size() == 1) return std::move(parts[0]);
  const int depth = depth_over_all(parts);
  return make(line, depth, Concatenation{std::move(parts)});
}

Result<ExpressionPointer> ExpressionParser::parse_product() {
  ExpressionPointer left = TRY(parse_power());
  for (auto symbol = operator_of(tokens.current()); symbol && !is_sum(*symbol);
       symbol = operator_of(tokens.current())) {
    const int line = tokens.take().line;
    ExpressionPointer right = TRY(parse_power());
    const int depth = depth_over(left, right);
    left = TRY(make(line, depth, Binary{*symbol, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExpressionPointer> ExpressionParser::parse_power() {
  ExpressionPointer left = TRY(parse_unary(Filters::follow));
  while (tokens.current().is_symbol("**")) {
    const int line = tokens.take().line;
    ExpressionPointer right = TRY(parse_unary(Filters::follow));
    const int depth = depth_over(left, right);
    left = TRY(make(line, depth, Binary{BinaryOperator::power, std::move(left), std::move(right)}));
  }
  return left;
}

Result<ExpressionPointer> ExpressionParser::parse_unary(Filters filters) {
  const Level level(*this);
  TRY(level.check());
  ExpressionPointer node;
  if (tokens.current().is_symbol("-") || tokens.current().is_symbol("+")) {
    const Token sign = tokens.take();
    ExpressionPointer operand = TRY(parse_unary(Filters::do_not_follow));
    const int depth = depth_over(operand);
    const UnaryOperator operation = sign.text == "-" ? UnaryOperator::negate : UnaryOperator::plus;
    node = TRY(make(sign.line, depth, Unary{operation, std::move(operand)}));
  } else {
    node = TRY(parse_primary());
  }
  node = TRY(parse_postfix(std::move(node)));
  if (filters == Filters::follow) node = TRY(parse_filters_and_tests(std::move(node)));
  return node;
}

Result<ExpressionPointer> ExpressionParser::parse_primary() {
  const int line = tokens.line();
  switch (tokens.current().kind) {
    case TokenKind::name: return parse_name();
    case TokenKind::number: return make(line, 1, Constant{tokens.take().number});
    case TokenKind::text: {
      std::string text = tokens.take().text;
      while (tokens.current().kind == TokenKind::text) text += tokens.take().text;
      return make(line, 1, Constant{Value::text(std::move(text))});
    }
    default: break;
  }
  if (tokens.current().is_symbol("(")) return parse_parenthesized();
  if (tokens.current().is_symbol("[")) return parse_list();
  if (tokens.current().is_symbol("{")) return parse_dictionary();
  return tokens.unexpected("an expression");
}

Result<ExpressionPointer> ExpressionParser::parse_name() {
  Token token = tokens.take();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return make(token.line, 1, Constant{Value::boolean(true)});
  if (name == "false" || name == "False") return make(token.line, 1, Constant{Value::boolean(false)});
  if (name == "none" || name == "None") return make(token.line, 1, Constant{Value()});
  if (name == "caller") special_names.caller = true;
  if (name == "varargs") special_names.varargs = true;
  if (name == "kwargs") special_names.kwargs = true;
  return make(token.line, 1, Name{std::move(token.text)});
}

Result<ExpressionPointer> ExpressionParser::parse_parenthesized() {
  const int line = tokens.take().line;
  if (tokens.skip_symbol(")")) return make(line, 1, SequenceLiteral{SequenceForm::tuple, {}});
  ExpressionPointer inner = TRY(parse_tuple());
  TRY(tokens.expect_symbol(")"));
  return inner;
}

Result<ExpressionPointer> ExpressionParser::parse_list() {
  const int line = tokens.take().line;
  std::vector<ExpressionPointer> items;
  while (!tokens.current().is_symbol("]")) {
    if (!items.empty()) TRY(tokens.expect_symbol(","));
    if (tokens.current().is_symbol("]")) break;
    items.push_back(TRY(parse_expression()));
  }
  TRY(tokens.expect_symbol("]"));
  const int depth = depth_over_all(items);
  return make(line, depth, SequenceLiteral{SequenceForm::list, std::move(items)});
}

Result<ExpressionPointer> ExpressionParser::parse_dictionary() {
  const int line = tokens.take().line;
  DictionaryLiteral literal;
  int depth = 0;
  while (!tokens.current().is_symbol("}")) {
    if (!literal.entries.empty()) TRY(tokens.expect_symbol(","));
    if (tokens.current().is_symbol("}")) break;
    ExpressionPointer key = TRY(parse_expression());
    TRY(tokens.expect_symbol(":"));
    ExpressionPointer value = TRY(parse_expression());
    depth = std::max({depth, depth_of(key), depth_of(value)});
    literal.entries.emplace_back(std::move(key), std::move(value));
  }
  TRY(tokens.expect_symbol("}"));
  return make(line, depth + 1, std::move(literal));
}

}  // namespace ingot::chat
