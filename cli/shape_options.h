// Options that hold an answer to a shape: a schema, a grammar, a regular expression, or one of several texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/grammar/grammar.h"

namespace ingot {

struct ShapeOptions {
  std::string schema_file, grammar_file, regular_expression;
  std::vector<std::string> choices;  // as they were given: one may hold several

  bool are_given() const {
    return !schema_file.empty() || !grammar_file.empty() || !regular_expression.empty() || !choices.empty();
  }
};

// --schema, --grammar, --regex, --choice: one of them at the most.
void add_shape_options(const Command& command, ShapeOptions& options);

// Null where none was given.
Result<std::shared_ptr<const grammar::Grammar>> compile_shape(const ShapeOptions& options);

}  // namespace ingot
