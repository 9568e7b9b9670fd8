// What a schema says about a value that is written without quotes: whether it can be a text, and what else.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/chat/value.h"

namespace ingot::calls {

enum class ParameterKind : std::uint8_t {
  unknown,       // a text unless it reads as something else
  text,          // whatever it looks like
  text_or_null,  // null, or a text
  other,         // never a text
};

// Of the parameter with this name, by the schema of all of them. Looks at type, enum, const, anyOf, oneOf, allOf and
// references inside of the schema. Whoever writes a value and whoever reads it must ask the same schema.
ParameterKind parameter_kind(const chat::Value& parameters, std::string_view name);

}  // namespace ingot::calls
