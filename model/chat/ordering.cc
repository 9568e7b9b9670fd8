#include "model/chat/ordering.h"

#include <algorithm>

#include "model/chat/value_compare.h"

namespace ingot::chat {

// A merge sort from the bottom up: std::stable_sort has no way out when a comparison fails.
Result<std::vector<std::size_t>> sorted_order(const std::vector<Value>& keys, Direction direction, Budget& budget) {
  const std::size_t count = keys.size();
  TRY(budget.spend_bytes(count * 2 * sizeof(std::size_t)));
  std::vector<std::size_t> order(count);
  for (std::size_t index = 0; index < count; ++index) order[index] = index;
  std::vector<std::size_t> merged(count);
  for (std::size_t width = 1; width < count; width *= 2) {
    for (std::size_t start = 0; start < count; start += 2 * width) {
      const std::size_t middle = std::min(start + width, count);
      const std::size_t end = std::min(start + 2 * width, count);
      std::size_t left = start;
      std::size_t right = middle;
      for (std::size_t out = start; out < end; ++out) {
        bool takes_right = left == middle;
        if (left < middle && right < end) {
          const Value& first = keys[order[left]];
          const Value& second = keys[order[right]];
          takes_right = direction == Direction::ascending ? TRY(ordered(second, Order::less, first, budget))
                                                          : TRY(ordered(first, Order::less, second, budget));
        }
        merged[out] = takes_right ? order[right++] : order[left++];
      }
    }
    std::swap(order, merged);
  }
  return order;
}

}  // namespace ingot::chat
