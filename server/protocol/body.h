// A request's body as a dictionary of fields.
#pragma once

#include <string_view>

#include "model/chat/dictionary.h"
#include "server/protocol/api_error.h"

namespace ingot::protocol {

// Strict JSON in strict UTF-8, at most 100 levels deep and a million values long. Of two equal keys the last one's
// value counts. The error names the byte.
Outcome<chat::Value> read_json(std::string_view json);
// The same, and it is an object.
Outcome<chat::Dictionary> read_body(std::string_view body);

// The model that is asked for. Nothing where the field is absent or null: a server of one model needs no name.
Outcome<std::optional<std::string>> model_of(const chat::Dictionary& body);

}  // namespace ingot::protocol
