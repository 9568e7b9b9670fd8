// Values as JSON text, with the options and the spelling of Python's json.dumps.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

struct JsonOptions {
  bool escapes_beyond_ascii = false;
  bool sorts_keys = false;
  std::optional<std::string> indentation;  // none: all on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool keeps_spelling = false;  // of numbers that a double changes
};

Result<std::string> json_of(const Value& value, const JsonOptions& options, Runtime& runtime);

}  // namespace ingot::chat
