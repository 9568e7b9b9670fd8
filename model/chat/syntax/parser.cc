#include "model/chat/syntax/parser.h"

#include "model/chat/syntax/expression_parser.h"

namespace ingot::chat {

namespace {

using Names = std::initializer_list<std::string_view>;

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : expressions_(std::move(tokens)) {}

  Result<Block> parse() {
    Block block = TRY(parse_block({}));
    TRY(unknown().reject_since(0));
    return block;
  }

 private:
  TokenReader& tokens() { return expressions_.tokens; }
  UnknownNames& unknown() { return expressions_.unknown_names; }

  // Up to one of the end names, which is current then; without any, up to the end of the template.
  Result<Block> parse_block(Names end_names) {
    const ExpressionParser::Level level(expressions_);
    TRY(level.check());
    Block block;
    while (true) {
      const int line = tokens().line();
      switch (tokens().current().kind) {
        case TokenKind::data: block.push_back({line, DataStatement{tokens().take().text}}); break;
        case TokenKind::variable_begin: {
          tokens().take();
          block.push_back({line, OutputStatement{TRY(expressions_.parse_tuple())}});
          TRY(tokens().expect(TokenKind::variable_end));
          break;
        }
        case TokenKind::block_begin:
          tokens().take();
          if (tokens().at_name(end_names)) return block;
          TRY(parse_statement(block));
          TRY(tokens().expect(TokenKind::block_end));
          break;
        default:
          if (end_names.size() == 0) return block;
          return tokens().unexpected("{% ", *end_names.begin(), " %}");
      }
    }
  }

  // The rest of a tag, then its body. The end name stays current.
  Result<Block> parse_body(Names end_names) {
    tokens().skip_symbol(":");
    TRY(tokens().expect(TokenKind::block_end));
    return parse_block(end_names);
  }
  Result<Block> parse_body_to(std::string_view end_name) {
    Block body = TRY(parse_body({end_name}));
    tokens().take();
    return body;
  }
  // A body with variables of its own.
  Result<Block> parse_scope_to(std::string_view end_name) {
    const std::size_t mark = unknown().mark();
    Block body = TRY(parse_body_to(end_name));
    TRY(unknown().reject_since(mark));
    return body;
  }

  Result<void> parse_statement(Block& block) {
    const int line = tokens().line();
    if (tokens().current().kind != TokenKind::name) return tokens().unexpected("a tag's name");
    const std::string tag = tokens().current().text;
    const auto add = [&](auto statement) -> Result<void> {
      block.push_back({line, TRY(std::move(statement))});
      return {};
    };
    if (tag == "if") return add(parse_if());
    if (tag == "for") return add(parse_for());
    if (tag == "set") return parse_set(block);
    if (tag == "macro") return add(parse_macro());
    if (tag == "call") return add(parse_call_block());
    if (tag == "filter") return add(parse_filter_block());
    if (tag == "with") return add(parse_with());
    if (tag == "generation") return add(parse_generation());
    if (tag == "block") return add(parse_named_block());
    if (tag == "print") return parse_print(block);
    if (tag == "break" || tag == "continue") return parse_loop_control(block);
    if (tag == "include" || tag == "import" || tag == "from" || tag == "extends" || tag == "autoescape") {
      return parse_unavailable(block);
    }
    return tokens().unexpected("a tag that Jinja knows");
  }

  Result<IfStatement> parse_if() {
    IfStatement statement;
    const std::size_t mark = unknown().mark();
    do {
      tokens().take();  // if, elif
      ExpressionPointer condition = TRY(expressions_.parse_tuple(ExpressionParser::Conditionals::not_allowed));
      Block body = TRY(parse_body({"endif", "elif", "else"}));
      statement.branches.emplace_back(std::move(condition), std::move(body));
    } while (tokens().current().is_name("elif"));
    if (tokens().take().text == "else") statement.otherwise = TRY(parse_body_to("endif"));
    unknown().allow_since(mark);
    return statement;
  }

  Result<ForStatement> parse_for() {
    ForStatement statement;
    tokens().take();
    ++loops_around_;
    statement.target = TRY(parse_target("in", false));
    TRY(tokens().expect_name("in"));
    statement.iterable = TRY(expressions_.parse_tuple(ExpressionParser::Conditionals::not_allowed, "recursive"));
    const std::size_t mark = unknown().mark();
    if (tokens().skip_name("if")) statement.condition = TRY(expressions_.parse_expression());
    statement.is_recursive = tokens().skip_name("recursive");
    ++loops_;
    statement.body = TRY(parse_body({"endfor", "else"}));
    --loops_;
    if (tokens().take().text == "else") statement.otherwise = TRY(parse_body_to("endfor"));
    --loops_around_;
    TRY(unknown().reject_since(mark));
    return statement;
  }

  Result<void> parse_loop_control(Block& block) {
    const Token tag = tokens().take();
    if (loops_ == 0) {
      return Error::of(ErrorCode::invalid_argument, "line ", tag.line, ": expected {% ", tag.text,
                       " %} inside a loop, found it outside");
    }
    if (tag.text == "break") {
      block.push_back({tag.line, BreakStatement{}});
    } else {
      block.push_back({tag.line, ContinueStatement{}});
    }
    return {};
  }

  Result<void> parse_set(Block& block) {
    const int line = tokens().take().line;
    Target target = TRY(parse_target({}, true));
    if (tokens().skip_symbol("=")) {
      block.push_back({line, SetStatement{std::move(target), TRY(expressions_.parse_tuple())}});
      return {};
    }
    const std::size_t mark = unknown().mark();
    ExpressionPointer filter = TRY(expressions_.parse_block_filter(false));
    Block body = TRY(parse_body_to("endset"));
    TRY(unknown().reject_since(mark));
    block.push_back({line, SetBlockStatement{std::move(target), std::move(filter), std::move(body)}});
    return {};
  }

  Result<MacroStatement> parse_macro() {
    tokens().take();
    MacroDefinition macro;
    const std::size_t mark = unknown().mark();
    macro.name = TRY(tokens().expect_any_name());
    macro.parameters = TRY(parse_parameters());
    TRY(unknown().reject_since(mark));
    TRY(parse_macro_body(macro, "endmacro"));
    return MacroStatement{std::move(macro)};
  }

  Result<CallBlockStatement> parse_call_block() {
    CallBlockStatement statement;
    tokens().take();
    statement.caller.name = "caller";
    if (tokens().current().is_symbol("(")) statement.caller.parameters = TRY(parse_parameters());
    statement.call = TRY(expressions_.parse_expression());
    if (!std::holds_alternative<Call>(statement.call->node))
      return tokens().unexpected("a call before the end of the tag");
    TRY(parse_macro_body(statement.caller, "endcall"));
    return statement;
  }

  Result<std::vector<Parameter>> parse_parameters() {
    std::vector<Parameter> parameters;
    TRY(tokens().expect_symbol("("));
    bool has_defaults = false;
    while (!tokens().current().is_symbol(")")) {
      if (!parameters.empty()) TRY(tokens().expect_symbol(","));
      Parameter parameter;
      parameter.name = TRY(tokens().expect_any_name());
      if (tokens().skip_symbol("=")) {
        parameter.otherwise = TRY(expressions_.parse_expression());
        has_defaults = true;
      } else if (has_defaults) {
        return tokens().unexpected("a default, as the parameter before has one");
      }
      parameters.push_back(std::move(parameter));
    }
    TRY(tokens().expect_symbol(")"));
    return parameters;
  }

  // A macro inside a macro counts as a use in both.
  Result<void> parse_macro_body(MacroDefinition& macro, std::string_view end_name) {
    const SpecialNames outside = std::exchange(expressions_.special_names, {});
    const int loops_outside = std::exchange(loops_, 0);
    macro.body = TRY(parse_scope_to(end_name));
    loops_ = loops_outside;
    SpecialNames& names = expressions_.special_names;
    macro.uses_caller = names.caller;
    macro.uses_varargs = names.varargs;
    macro.uses_kwargs = names.kwargs;
    names.caller |= outside.caller;
    names.varargs |= outside.varargs;
    names.kwargs |= outside.kwargs;
    return {};
  }

  Result<FilterBlockStatement> parse_filter_block() {
    FilterBlockStatement statement;
    tokens().take();
    const std::size_t mark = unknown().mark();
    statement.filter = TRY(expressions_.parse_block_filter(true));
    statement.body = TRY(parse_body_to("endfilter"));
    TRY(unknown().reject_since(mark));
    return statement;
  }

  Result<WithStatement> parse_with() {
    WithStatement statement;
    tokens().take();
    while (tokens().current().kind != TokenKind::block_end) {
      if (!statement.variables.empty()) TRY(tokens().expect_symbol(","));
      Target target = TRY(parse_target({}, false));
      TRY(tokens().expect_symbol("="));
      statement.variables.emplace_back(std::move(target), TRY(expressions_.parse_expression()));
    }
    statement.body = TRY(parse_scope_to("endwith"));
    return statement;
  }

  // What an assistant said, which training looks for; here it is text as any other.
  Result<ScopeStatement> parse_generation() {
    tokens().take();
    const int loops_outside = std::exchange(loops_, 0);
    Block body = TRY(parse_scope_to("endgeneration"));
    loops_ = loops_outside;
    return ScopeStatement{std::move(body)};
  }

  Result<ScopeStatement> parse_named_block() {
    tokens().take();
    const std::string name = TRY(tokens().expect_any_name());
    tokens().skip_name("scoped");
    tokens().skip_name("required");
    const int loops_outside = std::exchange(loops_, 0);
    Block body = TRY(parse_scope_to("endblock"));
    loops_ = loops_outside;
    tokens().skip_name(name);
    return ScopeStatement{std::move(body)};
  }

  Result<void> parse_print(Block& block) {
    const int line = tokens().take().line;
    bool is_first = true;
    while (tokens().current().kind != TokenKind::block_end) {
      if (!is_first) TRY(tokens().expect_symbol(","));
      is_first = false;
      block.push_back({line, OutputStatement{TRY(expressions_.parse_expression())}});
    }
    return {};
  }

  // There is one template and no folder to load others from.
  Result<void> parse_unavailable(Block& block) {
    const Token tag = tokens().take();
    if (tag.text == "autoescape" && tokens().at_name({"false", "False"})) {
      tokens().take();
      block.push_back({tag.line, ScopeStatement{TRY(parse_scope_to("endautoescape"))}});
      return {};
    }
    while (tokens().current().kind != TokenKind::block_end && tokens().current().kind != TokenKind::end)
      tokens().take();
    if (tag.text == "autoescape") TRY(parse_body_to("endautoescape"));
    block.push_back({tag.line, UnavailableStatement{tag.text}});
    return {};
  }

  Result<Target> parse_target(std::string_view end_name, bool with_attributes) {
    const ExpressionParser::Level level(expressions_);
    TRY(level.check());
    Target target;
    target.line = tokens().line();
    while (true) {
      const TokenKind kind = tokens().current().kind;
      const bool at_end = kind == TokenKind::block_end || tokens().current().is_symbol(")") ||
                          (!end_name.empty() && tokens().current().is_name(end_name));
      if (at_end && (target.is_tuple || target.parts.empty())) break;
      target.parts.push_back(TRY(parse_single_target(with_attributes)));
      if (!tokens().skip_symbol(",")) break;
      target.is_tuple = true;
    }
    if (target.is_tuple) return target;
    if (target.parts.empty()) return tokens().unexpected("a name to assign to");
    Target single = std::move(target.parts[0]);
    return single;
  }

  Result<Target> parse_single_target(bool with_attributes) {
    if (tokens().skip_symbol("(")) {
      Target inner = TRY(parse_target({}, with_attributes));
      TRY(tokens().expect_symbol(")"));
      return inner;
    }
    Target target;
    target.line = tokens().line();
    if (tokens().at_name({"true", "false", "none", "True", "False", "None"})) {
      return tokens().unexpected("a name to assign to");
    }
    if (loops_around_ > 0 && tokens().current().is_name("loop")) {
      return tokens().unexpected("a name other than that of the loop");
    }
    target.name = TRY(tokens().expect_any_name());
    if (with_attributes && tokens().skip_symbol(".")) target.attribute = TRY(tokens().expect_any_name());
    return target;
  }

  ExpressionParser expressions_;
  int loops_ = 0;         // that a break could end
  int loops_around_ = 0;  // through macros and blocks too
};

}  // namespace

Result<Block> parse_template(std::string_view source) { return StatementParser(TRY(tokenize(source))).parse(); }

}  // namespace ingot::chat
