// Python's `text % values`.
#pragma once

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

// The values: a tuple, a dictionary for %(name)s, or one value.
Result<Value> printf_format(const Value& format, const Value& values, Runtime& runtime);

}  // namespace ingot::chat
