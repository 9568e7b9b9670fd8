// Python's text.format(arguments).
#pragma once

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

Result<Value> brace_format(const Value& format, const Arguments& arguments, Runtime& runtime);

}  // namespace ingot::chat
