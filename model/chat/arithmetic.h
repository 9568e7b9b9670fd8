// The operators of expressions, with Python's rules: floors toward minus infinity, texts and lists that add and repeat.
#pragma once

#include "base/result.h"
#include "model/chat/syntax/syntax_tree.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

Result<Value> binary_operation(BinaryOperator operation, const Value& left, const Value& right, Runtime& runtime);
Result<Value> negate(const Value& operand);
Result<Value> plus(const Value& operand);

// What Markup adds to itself: text with &, <, > and quotes as entities, unless it is markup already.
std::string escape_markup(std::string_view text);
Result<MarkedText> escaped_text_of(const Value& value, Runtime& runtime);

}  // namespace ingot::chat
