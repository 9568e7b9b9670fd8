// What follows a primary expression: attributes, subscripts, calls, filters and tests.
#include "model/chat/syntax/expression_parser.h"
#include "model/chat/syntax/tree_depth.h"

namespace ingot::chat {

Result<ExpressionPointer> ExpressionParser::parse_postfix(ExpressionPointer node) {
  while (true) {
    if (tokens.current().is_symbol(".")) {
      node = TRY(parse_attribute(std::move(node)));
    } else if (tokens.current().is_symbol("[")) {
      node = TRY(parse_subscript(std::move(node)));
    } else if (tokens.current().is_symbol("(")) {
      node = TRY(parse_call(std::move(node)));
    } else {
      return node;
    }
  }
}

Result<ExpressionPointer> ExpressionParser::parse_filters_and_tests(ExpressionPointer node) {
  while (true) {
    if (tokens.skip_symbol("|")) {
      node = TRY(parse_filter(std::move(node)));
    } else if (tokens.current().is_name("is")) {
      node = TRY(parse_test(std::move(node)));
    } else if (tokens.current().is_symbol("(")) {
      node = TRY(parse_call(std::move(node)));
    } else {
      return node;
    }
  }
}

Result<ExpressionPointer> ExpressionParser::parse_attribute(ExpressionPointer node) {
  const int line = tokens.take().line;
  const int depth = depth_over(node);
  if (tokens.current().kind == TokenKind::name) {
    return make(line, depth, AttributeAccess{std::move(node), tokens.take().text});
  }
  if (tokens.current().kind != TokenKind::number || !tokens.current().number.is(Kind::integer)) {
    return tokens.unexpected("a name or a number");
  }
  ExpressionPointer index = TRY(make(line, 1, Constant{tokens.take().number}));
  return make(line, depth, ItemAccess{std::move(node), std::move(index)});
}

Result<ExpressionPointer> ExpressionParser::parse_subscript(ExpressionPointer node) {
  const int line = tokens.take().line;
  std::vector<ExpressionPointer> indices;
  ExpressionPointer bounds[3];
  bool is_slice = false;
  for (int part = 0; part < 3; ++part) {
    const bool is_given = !tokens.current().is_symbol(":") && !tokens.current().is_symbol("]");
    if (is_given) bounds[part] = TRY(parse_expression());
    if (part == 2 || !tokens.skip_symbol(":")) break;
    is_slice = true;
  }
  if (is_slice) {
    TRY(tokens.expect_symbol("]"));
    const int depth = depth_over(node, bounds[0], bounds[1], bounds[2]);
    return make(line, depth,
                SliceAccess{std::move(node), std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2])});
  }
  // x[] and x[1, 2] look up a tuple.
  bool is_tuple = bounds[0] == nullptr;
  if (bounds[0] != nullptr) indices.push_back(std::move(bounds[0]));
  while (!tokens.current().is_symbol("]")) {
    TRY(tokens.expect_symbol(","));
    is_tuple = true;
    indices.push_back(TRY(parse_expression()));
  }
  TRY(tokens.expect_symbol("]"));
  ExpressionPointer index;
  if (is_tuple) {
    const int depth = depth_over_all(indices);
    index = TRY(make(line, depth, SequenceLiteral{SequenceForm::tuple, std::move(indices)}));
  } else {
    index = std::move(indices[0]);
  }
  const int depth = depth_over(node, index);
  return make(line, depth, ItemAccess{std::move(node), std::move(index)});
}

Result<ExpressionPointer> ExpressionParser::parse_call(ExpressionPointer node) {
  const int line = tokens.line();
  CallArguments arguments = TRY(parse_arguments());
  const int depth = depth_over_arguments(node, arguments);
  return make(line, depth, Call{std::move(node), std::move(arguments)});
}

Result<CallArguments> ExpressionParser::parse_arguments() {
  TRY(tokens.expect_symbol("("));
  CallArguments arguments;
  bool is_first = true;
  while (!tokens.current().is_symbol(")")) {
    if (!is_first) TRY(tokens.expect_symbol(","));
    if (tokens.current().is_symbol(")")) break;
    is_first = false;
    if (tokens.current().is_symbol("*")) {
      if (arguments.more_positional != nullptr || arguments.more_named != nullptr) {
        return tokens.unexpected("one * argument before any **");
      }
      tokens.take();
      arguments.more_positional = TRY(parse_expression());
    } else if (tokens.current().is_symbol("**")) {
      if (arguments.more_named != nullptr) return tokens.unexpected("one ** argument");
      tokens.take();
      arguments.more_named = TRY(parse_expression());
    } else if (tokens.current().kind == TokenKind::name && tokens.ahead().is_symbol("=")) {
      if (arguments.more_named != nullptr) return tokens.unexpected("no argument after **");
      std::string name = tokens.take().text;
      tokens.take();
      arguments.named.emplace_back(std::move(name), TRY(parse_expression()));
    } else {
      if (arguments.more_positional != nullptr || arguments.more_named != nullptr || !arguments.named.empty()) {
        return tokens.unexpected("no argument by position after one by name");
      }
      arguments.positional.push_back(TRY(parse_expression()));
    }
  }
  TRY(tokens.expect_symbol(")"));
  return arguments;
}

Result<std::string> ExpressionParser::parse_dotted_name() {
  std::string name = TRY(tokens.expect_any_name());
  while (tokens.skip_symbol(".")) name += "." + TRY(tokens.expect_any_name());
  return name;
}

Result<ExpressionPointer> ExpressionParser::parse_filter(ExpressionPointer node) {
  const int line = tokens.line();
  std::string name = TRY(parse_dotted_name());
  CallArguments arguments;
  if (tokens.current().is_symbol("(")) arguments = TRY(parse_arguments());
  const int depth = depth_over_arguments(node, arguments);
  const FilterFunction function = find_filter(name);
  if (function == nullptr) unknown_names.add(line, "a filter, found '" + name + "'");
  return make(line, depth, FilterUse{std::move(node), std::move(name), function, std::move(arguments)});
}

Result<ExpressionPointer> ExpressionParser::parse_block_filter(bool starts_inline) {
  ExpressionPointer node;
  if (starts_inline) node = TRY(parse_filter(nullptr));
  while (tokens.skip_symbol("|")) node = TRY(parse_filter(std::move(node)));
  return node;
}

Result<ExpressionPointer> ExpressionParser::parse_test(ExpressionPointer node) {
  const int line = tokens.take().line;
  const bool is_negated = tokens.skip_name("not");
  std::string name = TRY(parse_dotted_name());
  CallArguments arguments;
  const Token& next = tokens.current();
  if (next.is_symbol("(")) {
    arguments = TRY(parse_arguments());
  } else if ((next.kind == TokenKind::name && !tokens.at_name({"else", "or", "and"})) || next.kind == TokenKind::text ||
             next.kind == TokenKind::number || next.is_symbol("[") || next.is_symbol("{")) {
    // One argument needs no parentheses: x is divisibleby 3.
    if (next.is_name("is")) return tokens.unexpected("one test at a time");
    ExpressionPointer argument = TRY(parse_primary());
    arguments.positional.push_back(TRY(parse_postfix(std::move(argument))));
  }
  int depth = depth_over_arguments(node, arguments);
  const PredicateFunction function = find_predicate(name);
  if (function == nullptr) unknown_names.add(line, "a test, found '" + name + "'");
  node = TRY(make(line, depth, TestUse{std::move(node), std::move(name), function, std::move(arguments)}));
  if (!is_negated) return node;
  depth = depth_over(node);
  return make(line, depth, Unary{UnaryOperator::logical_not, std::move(node)});
}

}  // namespace ingot::chat
