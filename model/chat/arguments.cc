#include "model/chat/arguments.h"

#include <algorithm>

#include "model/chat/value_compare.h"

namespace ingot::chat {

Result<std::int64_t> BoundArguments::integer(std::size_t index, std::int64_t otherwise) const {
  const Value& value = (*this)[index];
  if (value.is_none()) return otherwise;
  if (const auto integer = value.integer_value()) return *integer;
  return Error::of(ErrorCode::invalid_argument, "expected an integer as argument ", index + 1, ", found ",
                   value.type_name());
}

Result<std::string> BoundArguments::text(std::size_t index, std::string_view otherwise) const {
  const Value& value = (*this)[index];
  if (value.is_none()) return std::string(otherwise);
  if (value.is_text()) return value.bytes();
  return Error::of(ErrorCode::invalid_argument, "expected a text as argument ", index + 1, ", found ",
                   value.type_name());
}

bool BoundArguments::flag(std::size_t index, bool otherwise) const {
  return has(index) ? truth((*this)[index]) : otherwise;
}

Result<BoundArguments> bind(std::string_view function, const Arguments& arguments,
                            std::initializer_list<std::string_view> parameters, std::size_t required) {
  if (arguments.positional.size() > parameters.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", parameters.size(), " arguments of ", function,
                     ", found ", arguments.positional.size());
  }
  std::vector<const Value*> values(parameters.size(), nullptr);
  for (std::size_t index = 0; index < arguments.positional.size(); ++index) {
    values[index] = &arguments.positional[index];
  }
  for (const auto& [name, value] : arguments.named) {
    const auto* parameter = std::find(parameters.begin(), parameters.end(), name);
    if (parameter == parameters.end()) {
      return Error::of(ErrorCode::invalid_argument, "expected a parameter of ", function, ", found '", name, "'");
    }
    const Value*& place = values[static_cast<std::size_t>(parameter - parameters.begin())];
    if (place != nullptr) {
      return Error::of(ErrorCode::invalid_argument, "expected one value for parameter '", name, "' of ", function,
                       ", found two");
    }
    place = &value;
  }
  for (std::size_t index = 0; index < required; ++index) {
    if (values[index] == nullptr) {
      return Error::of(ErrorCode::invalid_argument, "expected an argument '", parameters.begin()[index], "' of ",
                       function, ", found none");
    }
  }
  return BoundArguments(std::move(values));
}

}  // namespace ingot::chat
