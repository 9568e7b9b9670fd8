#include "cli/shape_options.h"

#include <algorithm>

#include "cli/session_options.h"
#include "model/grammar/choices.h"
#include "model/grammar/gbnf.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/regular_expression.h"

namespace ingot {

namespace {

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// One text holds several, divided by commas; of several texts each is one, whatever stands in it.
std::vector<std::string> divided(const std::vector<std::string>& given) {
  if (given.size() != 1) return given;
  std::vector<std::string> parts;
  std::string_view rest = given.front();
  while (true) {
    const std::size_t comma = rest.find(',');
    parts.emplace_back(without_spaces(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    rest.remove_prefix(comma + 1);
  }
}

// An empty text is an unset variable of a shell, not a shape that only the empty answer has: what is empty was not
// given.
Check as_pattern() {
  return checked_by("", [](std::string& text) {
    if (text.empty()) return std::string("expected a regular expression, found none");
    const auto compiled = grammar::compile_regular_expression(text);
    return compiled.ok() ? std::string() : std::string(compiled.error().text());
  });
}

Check as_choices() {
  return checked_by("", [](std::string& text) {
    if (text.empty()) return std::string("expected texts divided by commas, found none");
    const bool has_empty = std::ranges::any_of(divided({text}), [](const auto& part) { return part.empty(); });
    return has_empty ? "expected a text on each side of a comma, found none in '" + text + "'" : std::string();
  });
}

}  // namespace

void add_shape_options(const Command& command, ShapeOptions& options) {
  const Option schema =
      command.add_option("--schema", options.schema_file, "answer in JSON that satisfies the JSON Schema in this file")
          .check(as_file());
  const Option grammar =
      command.add_option("--grammar", options.grammar_file, "answer by the GBNF grammar in this file").check(as_file());
  const Option regex =
      command
          .add_option("--regex", options.regular_expression,
                      "answer in a text that this regular expression (ECMAScript's) matches as a whole")
          .check(as_pattern());
  const Option choice = command
                            .add_option("--choice", options.choices,
                                        "answer with one of these, divided by commas; given several times, each is one")
                            .one_word_each_time()
                            .check(as_choices());
  schema.excludes(grammar).excludes(regex).excludes(choice);
  grammar.excludes(regex).excludes(choice);
  regex.excludes(choice);
}

Result<std::shared_ptr<const grammar::Grammar>> compile_shape(const ShapeOptions& options) {
  const auto named =
      [](const std::string& path,
         Result<std::shared_ptr<const grammar::Grammar>> compiled) -> Result<std::shared_ptr<const grammar::Grammar>> {
    if (!compiled.ok()) return compiled.error().within(path);
    return compiled;
  };
  if (!options.schema_file.empty()) {
    const std::string text = TRY(read_text_file(options.schema_file, "a schema"));
    return named(options.schema_file, grammar::compile_json_schema(text));
  }
  if (!options.grammar_file.empty()) {
    const std::string text = TRY(read_text_file(options.grammar_file, "a grammar"));
    return named(options.grammar_file, grammar::compile_gbnf(text));
  }
  if (!options.regular_expression.empty()) return grammar::compile_regular_expression(options.regular_expression);
  if (!options.choices.empty()) return grammar::compile_choices(divided(options.choices));
  return std::shared_ptr<const grammar::Grammar>();
}

}  // namespace ingot
