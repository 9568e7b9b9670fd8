// Filters: {{ value | name(arguments) }}.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

using FilterFunction = Result<Value> (*)(Runtime& runtime, const Value& subject, const Arguments& arguments);

struct Filter {
  std::string_view name;
  FilterFunction function;
};

// Null for a name that is none.
FilterFunction find_filter(std::string_view name);

// One table a file.
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> selection_filters();
std::span<const Filter> markup_filters();

}  // namespace ingot::chat
