// Numbers as text in the forms that `%` and str.format() share.
#pragma once

#include <string>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

struct FormatSpecification {
  std::string fill = " ";
  char alignment = 0;  // < > ^ =, or 0 for what the type prefers
  char sign = '-';     // - + or space
  bool alternate = false;
  bool zero_padded = false;
  std::int64_t width = 0;
  char grouping = 0;  // , or _
  std::int64_t precision = -1;
  char type = 0;
};

// Without padding. The type is one of d b o x X for whole numbers, e E f F g G % for any.
Result<std::string> format_number(const Value& value, const FormatSpecification& specification);
// Padded to the width, with the alignment that is preferred where none is given.
Result<std::string> pad(std::string text, const FormatSpecification& specification, char preferred, Runtime& runtime);

}  // namespace ingot::chat
