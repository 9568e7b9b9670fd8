#include "model/grammar/json_schema.h"

#include "model/grammar/schema/schema_writer.h"

namespace ingot::grammar {

Result<std::shared_ptr<const Grammar>> compile_json_schema(std::string_view schema, const JsonSchemaOptions& options,
                                                           const CompileLimits& limits) {
  Budget budget(limits);
  const SchemaDocument document = TRY(SchemaDocument::parse(schema));
  Expressions expressions(budget);
  SchemaWriter writer(document, expressions, options);
  const ExpressionId root = TRY(writer.write({document.root()}));
  return compile(expressions, root);
}

Result<std::shared_ptr<const Grammar>> compile_json(const JsonSchemaOptions& options, const CompileLimits& limits) {
  return compile_json_schema("true", options, limits);
}

}  // namespace ingot::grammar
