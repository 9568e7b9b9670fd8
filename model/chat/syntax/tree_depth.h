// Making expressions, with their depth counted: a chain such as a+b+c+... is read in a loop and still makes a deep
// tree.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/chat/syntax/syntax_tree.h"

namespace ingot::chat {

constexpr int deepest_tree = 200;

inline int depth_of(const ExpressionPointer& expression) { return expression == nullptr ? 0 : expression->depth; }

template <class... Pointers>
int depth_over(const Pointers&... pointers) {
  return std::max({0, depth_of(pointers)...}) + 1;
}

inline int depth_over_all(const std::vector<ExpressionPointer>& expressions) {
  int depth = 0;
  for (const ExpressionPointer& expression : expressions) depth = std::max(depth, depth_of(expression));
  return depth + 1;
}

inline int depth_over_arguments(const ExpressionPointer& subject, const CallArguments& arguments) {
  int depth = std::max(depth_over(subject, arguments.more_positional, arguments.more_named),
                       depth_over_all(arguments.positional));
  for (const auto& [name, value] : arguments.named) depth = std::max(depth, depth_of(value) + 1);
  return depth;
}

template <class Node>
Result<ExpressionPointer> make(int line, int depth, Node node) {
  if (depth > deepest_tree) {
    return Error::of(ErrorCode::out_of_range, "line ", line, ": expected at most ", deepest_tree,
                     " operations inside one another, found more");
  }
  return std::make_unique<Expression>(Expression{line, depth, std::move(node)});
}

}  // namespace ingot::chat
