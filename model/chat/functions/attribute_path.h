// The `attribute` argument of filters: "a.b.0" leads from an item to what the filter looks at.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

enum class LetterCase : std::uint8_t { matters, is_ignored };

class AttributePath {
 public:
  // None leads to the item itself; a number is one step.
  static Result<AttributePath> parse(const Value& attribute);

  // A default that is not none takes the place of what is undefined on the way.
  Result<Value> follow(const Value& item, LetterCase letter_case, Runtime& runtime, const Value& otherwise = {}) const;

 private:
  std::vector<Value> steps_;
};

}  // namespace ingot::chat
