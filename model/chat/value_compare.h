// Truth, equality and order of values, as Python has them. Values can share parts and be exponentially larger than
// their storage, so every comparison spends.
#pragma once

#include "model/chat/budget.h"
#include "model/chat/value.h"

namespace ingot::chat {

bool truth(const Value& value);
Result<bool> equal(const Value& left, const Value& right, Budget& budget);

enum class Order : std::uint8_t { less, less_or_equal, greater, greater_or_equal };
// An error for values that have no order.
Result<bool> ordered(const Value& left, Order order, const Value& right, Budget& budget);

// `item in container`.
Result<bool> contains(const Value& container, const Value& item, Budget& budget);

}  // namespace ingot::chat
