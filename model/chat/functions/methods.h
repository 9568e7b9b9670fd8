// Methods of texts, lists, tuples, dictionaries and numbers.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

using MethodFunction = Result<Value> (*)(Runtime& runtime, const Value& self, const Arguments& arguments);

struct Method {
  std::string_view name;
  MethodFunction function;
};

// Null for a name that is none.
MethodFunction find_method(const Value& value, std::string_view name);
// list.append and its like, which the sandbox withholds.
bool is_altering_method(const Value& value, std::string_view name);

// One table a file.
std::span<const Method> text_methods();
std::span<const Method> text_search_methods();
std::span<const Method> text_class_methods();

}  // namespace ingot::chat
