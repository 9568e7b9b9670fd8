#include "model/chat/object.h"

#include "model/chat/dictionary.h"
#include "model/chat/runtime.h"
#include "model/chat/value_text.h"

namespace ingot::chat {

Result<std::string> Object::description(Runtime&) const { return "<" + std::string(type_name()) + ">"; }

Result<Value> Object::call(Runtime&, const Arguments&) {
  return Error::of(ErrorCode::invalid_argument, "expected something to call, found ", type_name());
}

Result<std::optional<Value>> Object::attribute(Runtime&, std::string_view) { return std::optional<Value>(); }

Result<void> Object::set_attribute(std::string_view name, Value) {
  return Error::of(ErrorCode::invalid_argument, "expected a namespace to set '", name, "' of, found ", type_name());
}

Result<std::string> Function::description(Runtime&) const { return "<function " + name_ + ">"; }

Result<std::string> Namespace::description(Runtime& runtime) const {
  // A namespace may hold itself.
  const Runtime::Level level(runtime, 8);
  TRY(level.check());
  Dictionary attributes;
  for (const auto& [name, value] : attributes_) attributes.insert(name, value);
  return "<Namespace " + TRY(representation_of(Value::dictionary(std::move(attributes)), runtime)) + ">";
}

Result<std::optional<Value>> Namespace::attribute(Runtime& runtime, std::string_view name) {
  TRY(runtime.budget.spend_steps(attributes_.size() / 16));
  for (const auto& [known, value] : attributes_) {
    if (known == name) return std::optional<Value>(value);
  }
  return std::optional<Value>();
}

Result<void> Namespace::set_attribute(std::string_view name, Value value) {
  for (auto& [known, old] : attributes_) {
    if (known == name) {
      old = std::move(value);
      return {};
    }
  }
  attributes_.emplace_back(name, std::move(value));
  return {};
}

}  // namespace ingot::chat
