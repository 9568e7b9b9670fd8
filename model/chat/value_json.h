// Values from JSON text.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

// Objects keep the order of their keys; of two equal keys the last one's value counts. Deeper than 100 is an error.
Result<Value> value_from_json(std::string_view json);

}  // namespace ingot::chat
