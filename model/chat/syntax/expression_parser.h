// The expression half of the parser, in Jinja's order of precedence. Recursion and the depth of the tree are bounded:
// evaluating and destroying a tree recurse as deep as it is.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/chat/syntax/syntax_tree.h"
#include "model/chat/syntax/token_reader.h"

namespace ingot::chat {

// The special names of macro bodies, seen since they were last taken.
struct SpecialNames {
  bool caller = false;
  bool varargs = false;
  bool kwargs = false;
};

// Uses of filters and tests that nobody knows. As in Jinja they are errors of the template at once, except in an {% if
// %} or a conditional expression, which may ask first: there they are errors when they are reached.
class UnknownNames {
 public:
  std::size_t mark() const { return uses_.size(); }
  void add(int line, std::string what) { uses_.push_back({line, std::move(what)}); }
  // Those since the mark may stay.
  void allow_since(std::size_t mark) { uses_.resize(std::min(mark, uses_.size())); }
  Result<void> reject_since(std::size_t mark) const;

 private:
  struct Use {
    int line = 0;
    std::string what;
  };
  std::vector<Use> uses_;
};

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> source) : tokens(std::move(source)) {}

  TokenReader tokens;
  SpecialNames special_names;
  UnknownNames unknown_names;

  enum class Conditionals : std::uint8_t { allowed, not_allowed };
  Result<ExpressionPointer> parse_expression(Conditionals conditionals = Conditionals::allowed);
  // Also several expressions with commas between them. `end_name`: a name that ends a tuple after a comma.
  Result<ExpressionPointer> parse_tuple(Conditionals conditionals = Conditionals::allowed,
                                        std::string_view end_name = {});
  // {% filter upper|trim %}: the first name without a bar. Null when there is no filter and none is required.
  Result<ExpressionPointer> parse_block_filter(bool starts_inline);

  // One level of recursion, for as long as it lives.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) { ++parser_.level_; }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Result<void> check() const;

   private:
    ExpressionParser& parser_;
  };

 private:
  Result<ExpressionPointer> parse_conditional();
  Result<ExpressionPointer> parse_or();
  Result<ExpressionPointer> parse_and();
  Result<ExpressionPointer> parse_not();
  Result<ExpressionPointer> parse_comparison();
  Result<ExpressionPointer> parse_sum();
  Result<ExpressionPointer> parse_concatenation();
  Result<ExpressionPointer> parse_product();
  Result<ExpressionPointer> parse_power();
  enum class Filters : std::uint8_t { follow, do_not_follow };
  Result<ExpressionPointer> parse_unary(Filters filters);
  Result<ExpressionPointer> parse_primary();
  Result<ExpressionPointer> parse_name();
  Result<ExpressionPointer> parse_parenthesized();
  Result<ExpressionPointer> parse_list();
  Result<ExpressionPointer> parse_dictionary();
  Result<ExpressionPointer> parse_postfix(ExpressionPointer node);
  Result<ExpressionPointer> parse_filters_and_tests(ExpressionPointer node);
  Result<ExpressionPointer> parse_attribute(ExpressionPointer node);
  Result<ExpressionPointer> parse_subscript(ExpressionPointer node);
  Result<ExpressionPointer> parse_call(ExpressionPointer node);
  Result<ExpressionPointer> parse_filter(ExpressionPointer node);
  Result<ExpressionPointer> parse_test(ExpressionPointer node);
  Result<CallArguments> parse_arguments();
  Result<std::string> parse_dotted_name();

  int level_ = 0;
};

}  // namespace ingot::chat
