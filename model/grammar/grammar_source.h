// What a grammar is written in, and its text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/grammar/grammar.h"
#include "model/grammar/json_schema.h"

namespace ingot::grammar {

struct GrammarSource {
  enum class Kind : std::uint8_t { json_schema, gbnf, regular_expression, choices };

  Kind kind = Kind::json_schema;
  std::string text = {};
  std::vector<std::string> choices = {};  // instead of a text
  JsonSchemaOptions json = {};            // of a schema

  // The same for equal sources, and for no others.
  std::string key() const;
};

Result<std::shared_ptr<const Grammar>> compile_source(const GrammarSource& source, const CompileLimits& limits = {});

}  // namespace ingot::grammar
