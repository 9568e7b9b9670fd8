#include "model/calls/call_grammar.h"

#include <algorithm>

#include "model/calls/argument_grammar.h"
#include "model/calls/marks.h"
#include "model/calls/raw_text.h"
#include "model/calls/unit_compare.h"

namespace ingot::calls {

using grammar::ByteSet;
using grammar::ExpressionId;
using grammar::Expressions;

namespace {

constexpr std::uint32_t most_spaces = 8;
constexpr std::uint32_t id_size = 9;  // Mistral's; whoever has ids takes those

class CallGrammarWriter {
 public:
  CallGrammarWriter(const CallFormat& format, Expressions& expressions)
      : format_(format), spelling_(format.spelling()), expressions_(expressions) {
    ByteSet spaces;
    for (const char space : {' ', '\n', '\t', '\r'}) spaces.add(static_cast<unsigned>(space));
    space_ = expressions_.repeat(expressions_.bytes(spaces), 0, most_spaces);
  }

  // From the first mark to the end of the answer.
  Result<ExpressionId> write_section(std::span<const Tool> tools, bool parallel) {
    std::vector<ExpressionId> alternatives;
    for (const Tool& tool : tools) {
      auto call = write_call(tool);
      if (!call.ok()) return call.error().within("tool '", tool.name, "'");
      alternatives.push_back(call.value());
      TRY(expressions_.check());
    }
    // Once for all places: the first call and those behind it are the same rule.
    const grammar::RuleId rule = expressions_.add_rule("call");
    expressions_.define(rule, expressions_.alternatives(alternatives));
    const ExpressionId call = expressions_.call(rule);
    std::vector<ExpressionId> parts = {expressions_.text(spelling_.section_begin), call};
    if (parallel && spelling_.writes_several) {
      const ExpressionId next = expressions_.sequence({expressions_.text(spelling_.separator), call});
      parts.push_back(expressions_.repeat(next, 0, grammar::unbounded));
    }
    parts.push_back(write_end());
    return expressions_.sequence(parts);
  }

  // A thought, where the answer may have or has one, and the section.
  Result<ExpressionId> write_answer(ExpressionId section, bool begins_in_thought) {
    std::vector<ExpressionId> parts;
    const std::string& thought_end = format_.thought_end();
    if (!thought_end.empty()) {
      const ExpressionId thought = TRY(raw_text(expressions_, {.mark = thought_end, .end = thought_end}));
      if (begins_in_thought) {
        parts.push_back(thought);
      } else {
        parts.push_back(expressions_.optional(
            expressions_.sequence({space_, expressions_.text(format_.thought_begin()), thought})));
      }
    }
    parts.push_back(space_);
    parts.push_back(section);
    return expressions_.sequence(parts);
  }

  // A text that cannot be taken for the beginning of a call, where no mark tells it.
  Result<ExpressionId> write_content() {
    const ExpressionId any = expressions_.bytes(ByteSet::of_range(0x80, 0xff));
    ByteSet first = ByteSet::of_range('!', 'z');
    first.add('|');
    first.add('}');
    first.add('~');
    const ExpressionId begin = expressions_.alternatives({expressions_.bytes(first), any});
    const ExpressionId rest =
        expressions_.repeat(expressions_.bytes(ByteSet::of_range(0, 0xff)), 0, grammar::unbounded);
    return expressions_.sequence({space_, expressions_.optional(expressions_.sequence({begin, rest}))});
  }

 private:
  Result<ExpressionId> write_call(const Tool& tool) {
    const ExpressionId arguments = TRY(write_arguments(tool, spelling_, expressions_));
    std::vector<ExpressionId> parts = {expressions_.text(spelling_.call_begin)};
    for (const CallPart& part : spelling_.parts) {
      switch (part.kind) {
        case CallPart::Kind::text: parts.push_back(expressions_.text(part.text)); break;
        case CallPart::Kind::name: parts.push_back(expressions_.text(tool.name)); break;
        case CallPart::Kind::arguments: parts.push_back(arguments); break;
        case CallPart::Kind::index: {
          const ExpressionId digit = expressions_.bytes(ByteSet::of_range('0', '9'));
          parts.push_back(expressions_.repeat(digit, 1, 3));
          break;
        }
        case CallPart::Kind::id: {
          ByteSet letters = ByteSet::of_range('0', '9');
          letters = letters.united(ByteSet::of_range('a', 'z')).united(ByteSet::of_range('A', 'Z'));
          parts.push_back(expressions_.repeat(expressions_.bytes(letters), id_size, id_size));
          break;
        }
      }
    }
    parts.push_back(expressions_.text(spelling_.call_end));
    return expressions_.sequence(parts);
  }

  // A mark alone may be a token that ends the answer, and is not text then. White space at the very end says nothing.
  ExpressionId write_end() {
    const std::string_view behind = white_space_behind(spelling_.section_end);
    const std::string_view end =
        std::string_view(spelling_.section_end).substr(0, spelling_.section_end.size() - behind.size());
    const auto units = units_of(core_of(end));
    const bool is_mark = std::ranges::all_of(units, [](std::string_view unit) { return unit.size() > 1; });
    return is_mark ? expressions_.optional(expressions_.text(end)) : expressions_.text(end);
  }

  const CallFormat& format_;
  const CallSpelling& spelling_;
  Expressions& expressions_;
  ExpressionId space_;
};

}  // namespace

grammar::Trigger call_trigger(const CallFormat& format, bool begins_in_thought) {
  const CallSpelling& spelling = format.spelling();
  std::string text(spelling.trigger());
  if (first_unit(text).size() < 2) text = core_of(spelling.section_begin + spelling.call_begin);
  return {.text = std::move(text),
          .thought_begin = format.thought_begin(),
          .thought_end = format.thought_end(),
          .begins_in_thought = begins_in_thought};
}

Result<std::shared_ptr<const grammar::Grammar>> call_grammar(const CallFormat& format, std::span<const Tool> tools,
                                                             ToolChoice choice, std::string_view name, bool parallel,
                                                             bool begins_in_thought,
                                                             const grammar::CompileLimits& limits) {
  if (choice == ToolChoice::none || tools.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected tools that may be called, found none");
  }
  if (choice == ToolChoice::named) {
    const Tool* tool = find_tool(tools, name);
    if (tool == nullptr) {
      return Error::of(ErrorCode::not_found, "expected the name of one of the tools, found '", name, "'");
    }
    tools = {tool, 1};
    parallel = false;
  }
  grammar::Budget budget(limits);
  Expressions expressions(budget);
  CallGrammarWriter writer(format, expressions);
  ExpressionId root = TRY(writer.write_section(tools, parallel));
  if (choice != ToolChoice::automatic) {
    root = TRY(writer.write_answer(root, begins_in_thought));
  } else if (format.spelling().trigger().empty()) {
    const ExpressionId content = TRY(writer.write_content());
    root = expressions.alternatives({root, content});
  }
  TRY(expressions.check());
  return compile(expressions, root);
}

}  // namespace ingot::calls
