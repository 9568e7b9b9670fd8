#include "model/chat/functions/attribute_path.h"

#include <algorithm>

#include "model/chat/access.h"
#include "model/chat/runtime.h"
#include "model/chat/syntax/literal.h"
#include "model/chat/unicode.h"

namespace ingot::chat {

Result<AttributePath> AttributePath::parse(const Value& attribute) {
  AttributePath path;
  if (attribute.is_none()) return path;
  if (!attribute.is_text()) {
    path.steps_.push_back(attribute);
    return path;
  }
  std::string_view rest = attribute.bytes();
  while (true) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view step = rest.substr(0, end);
    const bool is_number = !step.empty() && step.find_first_not_of("0123456789") == std::string_view::npos;
    const auto number = is_number ? parse_integer(step, 10) : std::nullopt;
    path.steps_.push_back(number ? Value::integer(*number) : Value::text(std::string(step)));
    if (end == rest.size()) return path;
    rest.remove_prefix(end + 1);
  }
}

Result<Value> AttributePath::follow(const Value& item, LetterCase letter_case, Runtime& runtime,
                                    const Value& otherwise) const {
  TRY(runtime.budget.spend_steps(1 + steps_.size()));
  Value value = item;
  for (const Value& step : steps_) {
    value = TRY(get_item(value, step, runtime));
    if (value.is_undefined() && !otherwise.is_none()) value = otherwise;
  }
  if (letter_case == LetterCase::matters || !value.is_text()) return value;
  TRY(runtime.budget.spend_bytes(value.bytes().size() * 4));
  return recased(value, lowercase(value.bytes()));
}

}  // namespace ingot::chat
