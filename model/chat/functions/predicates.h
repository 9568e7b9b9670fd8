// Tests: {{ value is name(arguments) }}.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

using PredicateFunction = Result<bool> (*)(Runtime& runtime, const Value& subject, const Arguments& arguments);

// Null for a name that is none.
PredicateFunction find_predicate(std::string_view name);

}  // namespace ingot::chat
