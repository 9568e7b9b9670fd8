// JSON Schema, 2020-12 and back to draft 4, as a grammar of JSON texts.
//
// Every text of the grammar is valid; not every valid text is one of it: properties come in the order of the schema,
// those that it does not name behind them; texts that a schema compares (const, enum, pattern, format, names of
// properties) are spelled in one way; numbers with bounds have no exponent. `format` is enforced. docs/structured.md
// lists the keywords. A keyword that is not enforced is an error with its name and its place.
#pragma once

#include <memory>
#include <string_view>

#include "model/grammar/grammar.h"

namespace ingot::grammar {

struct JsonSchemaOptions {
  // White space after brackets, commas and colons, and before closing brackets; 0: none. Bounded, because a model that
  // may write spaces can do so for ever.
  std::uint32_t most_white_space = 64;
  // Objects that declare properties have no others unless the schema says what others may be. JSON Schema lets anything
  // stand beside them, and a model that may write anything hardly comes to an end.
  bool closes_objects = false;
};

Result<std::shared_ptr<const Grammar>> compile_json_schema(std::string_view schema,
                                                           const JsonSchemaOptions& options = {},
                                                           const CompileLimits& limits = {});

// Any JSON value: what "JSON mode" asks for.
Result<std::shared_ptr<const Grammar>> compile_json(const JsonSchemaOptions& options = {},
                                                    const CompileLimits& limits = {});

}  // namespace ingot::grammar
