// Values that a request brought, as JSON again: {"a":1}.
#pragma once

#include "model/chat/dictionary.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

void add_value(JsonWriter& writer, const chat::Value& value);

std::string json_of(const chat::Value& value);

}  // namespace ingot::protocol
