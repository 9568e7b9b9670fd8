#include "model/grammar/grammar_source.h"

#include "model/grammar/choices.h"
#include "model/grammar/gbnf.h"
#include "model/grammar/regular_expression.h"

namespace ingot::grammar {

std::string GrammarSource::key() const {
  std::string key(1, static_cast<char>('0' + static_cast<int>(kind)));
  if (kind == Kind::json_schema) key += std::to_string(json.most_white_space) + (json.closes_objects ? "c" : "");
  key += ':';
  // With their lengths, since a choice may have any letter.
  for (const std::string& choice : choices) key += std::to_string(choice.size()) + ':' + choice;
  return key + text;
}

Result<std::shared_ptr<const Grammar>> compile_source(const GrammarSource& source, const CompileLimits& limits) {
  switch (source.kind) {
    case GrammarSource::Kind::json_schema: return compile_json_schema(source.text, source.json, limits);
    case GrammarSource::Kind::gbnf: return compile_gbnf(source.text, limits);
    case GrammarSource::Kind::regular_expression: return compile_regular_expression(source.text, limits);
    case GrammarSource::Kind::choices: return compile_choices(source.choices, limits);
  }
  return Error::of(ErrorCode::invalid_argument, "expected a known kind of grammar, found another");
}

}  // namespace ingot::grammar
