// The variables of a part of a template. A loop's round, a macro's call and a block have their own, and see those
// around.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "model/chat/value.h"

namespace ingot::chat {

struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<std::string_view, Value>> variables;  // the syntax tree owns the names

  const Value* find(std::string_view name) const {
    for (const auto& [known, value] : variables) {
      if (known == name) return &value;
    }
    return nullptr;
  }
  void set(std::string_view name, Value value) {
    for (auto& [known, old] : variables) {
      if (known == name) {
        old = std::move(value);
        return;
      }
    }
    variables.emplace_back(name, std::move(value));
  }
};

}  // namespace ingot::chat
