// The arguments of a call, and how a function of this program takes them: by position or by name, as in Python.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// The arguments of one call in the order of the function's parameters; an absent one is none (or what the caller says).
class BoundArguments {
 public:
  explicit BoundArguments(std::vector<const Value*> values) : values_(std::move(values)) {}

  bool has(std::size_t index) const { return values_[index] != nullptr; }
  const Value& operator[](std::size_t index) const {
    static const Value none;
    return has(index) ? *values_[index] : none;
  }
  // None counts as absent for these three.
  Result<std::int64_t> integer(std::size_t index, std::int64_t otherwise) const;
  Result<std::string> text(std::size_t index, std::string_view otherwise) const;
  bool flag(std::size_t index, bool otherwise) const;

 private:
  std::vector<const Value*> values_;
};

// The first `required` parameters must be given. The arguments must outlive what is returned.
Result<BoundArguments> bind(std::string_view function, const Arguments& arguments,
                            std::initializer_list<std::string_view> parameters, std::size_t required = 0);

}  // namespace ingot::chat
