// A macro as a value, and what a call block passes as `caller`.
#pragma once

#include <memory>

#include "model/chat/evaluator.h"
#include "model/chat/object.h"

namespace ingot::chat {

class Macro : public Object {
 public:
  Macro(Evaluator& evaluator, const MacroDefinition& definition, std::shared_ptr<Scope> around)
      : evaluator_(evaluator), definition_(definition), around_(std::move(around)) {}

  std::string_view type_name() const override { return "Macro"; }
  bool is_callable() const override { return true; }
  Result<std::string> description(Runtime&) const override { return "<Macro '" + definition_.name + "'>"; }
  Result<Value> call(Runtime&, const Arguments& arguments) override {
    return evaluator_.call_macro(definition_, around_, arguments);
  }
  Result<std::optional<Value>> attribute(Runtime&, std::string_view name) override {
    if (name == "name") return std::optional(Value::text(definition_.name));
    if (name == "caller") return std::optional(Value::boolean(definition_.uses_caller));
    if (name == "catch_kwargs") return std::optional(Value::boolean(definition_.uses_kwargs));
    if (name == "catch_varargs") return std::optional(Value::boolean(definition_.uses_varargs));
    if (name != "arguments") return std::optional<Value>();
    std::vector<Value> names;
    for (const Parameter& parameter : definition_.parameters) names.push_back(Value::text(parameter.name));
    return std::optional(Value::tuple(std::move(names)));
  }
  // The scope around a macro holds the macro.
  void release() override { around_->variables.clear(); }

 private:
  Evaluator& evaluator_;
  const MacroDefinition& definition_;
  std::shared_ptr<Scope> around_;
};

}  // namespace ingot::chat
