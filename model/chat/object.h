// What has identity in a template: functions, macros, namespaces, loops.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/chat/arguments.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

class Object {
 public:
  virtual ~Object() = default;

  virtual std::string_view type_name() const = 0;
  // What printing it gives.
  virtual Result<std::string> description(Runtime& runtime) const;
  virtual bool is_callable() const { return false; }
  virtual Result<Value> call(Runtime& runtime, const Arguments& arguments);
  virtual Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name);
  virtual Result<void> set_attribute(std::string_view name, Value value);
  // As Value::depth: what its destructor may recurse into.
  virtual int depth() const { return 0; }
  // Lets go of everything it holds. Objects can hold themselves; the runtime ends that when a render ends.
  virtual void release() {}
};

class Function : public Object {
 public:
  using Body = std::function<Result<Value>(Runtime&, const Arguments&)>;

  Function(std::string name, Body body, int depth = 0)
      : name_(std::move(name)), body_(std::move(body)), depth_(depth) {}

  std::string_view type_name() const override { return "function"; }
  Result<std::string> description(Runtime& runtime) const override;
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime& runtime, const Arguments& arguments) override { return body_(runtime, arguments); }
  int depth() const override { return depth_; }

 private:
  std::string name_;
  Body body_;
  int depth_;
};

inline Value make_function(std::string name, Function::Body body, int depth = 0) {
  return Value::object(std::make_shared<Function>(std::move(name), std::move(body), depth));
}

// The one thing that a template can alter: {% set ns.count = ns.count + 1 %}.
class Namespace : public Object {
 public:
  std::string_view type_name() const override { return "Namespace"; }
  Result<std::string> description(Runtime& runtime) const override;
  Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name) override;
  Result<void> set_attribute(std::string_view name, Value value) override;
  void release() override { attributes_.clear(); }

 private:
  std::vector<std::pair<std::string, Value>> attributes_;
};

}  // namespace ingot::chat
