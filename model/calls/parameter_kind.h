// What a schema says about values that are written without quotes: whether they can be texts, and what else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/chat/value.h"

namespace ingot::calls {

enum class ParameterKind : std::uint8_t {
  unknown,       // a text unless it reads as something else
  text,          // whatever it looks like
  text_or_null,  // null, or a text
  other,         // never a text
};

// Of all parameters of a tool, by their schema: found once, because an answer asks at every name that it writes. Looks
// at type, enum, const, anyOf, oneOf, allOf and references inside of the schema, and at no more than a bound of it.
// Whoever writes a value and whoever reads it must ask the same schema.
class ParameterKinds {
 public:
  ParameterKinds() = default;  // nothing is known
  explicit ParameterKinds(const chat::Value& parameters);

  ParameterKind of(std::string_view name) const;

 private:
  std::map<std::string, ParameterKind, std::less<>> kinds_;  // without those that are unknown
};

}  // namespace ingot::calls
