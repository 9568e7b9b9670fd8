// The functions that every template can call: range, dict, namespace, cycler, joiner, raise_exception.
#pragma once

#include <optional>
#include <string_view>

#include "model/chat/value.h"

namespace ingot::chat {

std::optional<Value> find_global(std::string_view name);

}  // namespace ingot::chat
