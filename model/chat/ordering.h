// Sorting values, whose comparison can fail.
#pragma once

#include <vector>

#include "model/chat/budget.h"
#include "model/chat/value.h"

namespace ingot::chat {

enum class Direction : std::uint8_t { ascending, descending };

// The places of the keys in order. Equal keys keep their order, in either direction.
Result<std::vector<std::size_t>> sorted_order(const std::vector<Value>& keys, Direction direction, Budget& budget);

}  // namespace ingot::chat
