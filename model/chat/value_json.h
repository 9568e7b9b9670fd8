// Values from JSON text.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

// In memory an empty list takes fifty times the bytes that it has as text.
constexpr std::size_t most_json_values = 1'000'000;

// Numbers that a double changes keep their spelling. Objects keep the order of their keys; of two equal keys the last
// one's value counts. Deeper than 100 is an error, and so are more values than that.
Result<Value> value_from_json(std::string_view json);
// The same of one of several texts: `left` is how many values they may still have together.
// `check` sees every number that is held as a double: its text, and the nearest key that it stands below.
using DecimalCheck = Result<void> (*)(std::string_view key, std::string_view text, double value);
Result<Value> value_from_json(std::string_view json, std::size_t& left, DecimalCheck check = nullptr);

}  // namespace ingot::chat
