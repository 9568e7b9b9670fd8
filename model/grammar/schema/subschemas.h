// Where a schema holds other schemas, and which of its words ask nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "model/grammar/schema/schema_document.h"

namespace ingot::grammar {

inline bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

enum class Definitions : bool { left_out, visited };

// Each schema that stands right below this one, with the keyword that holds it: not values ('const', 'enum',
// 'default'), however much they look like schemas.
void visit_subschemas(const SchemaPlace& schema, Definitions definitions,
                      const std::function<void(std::string_view keyword, const SchemaPlace& below)>& visit);

// Said of a value without asking anything of it: by JSON Schema, or by a vocabulary that programs show forms, write
// classes and documents with. A name that begins with "x-" or '_' is nobody's keyword.
bool is_remark(std::string_view keyword, const chat::Value& value);

}  // namespace ingot::grammar
