// Floats as integers of the same order: comparisons that have no exception for NaN, and ties that are decided.
//
// -0 and +0 get one key; NaN gets the greatest or the least key of all, whichever the caller's contract says. A key and
// the index it stood at pack into one number, greater for a greater key and, among equal keys, for the lower index: the
// largest element, the k largest and a sorted order are then plain integer maxima and sorts.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace ingot {

enum class NaNOrder : std::uint8_t { greatest, least };

template <NaNOrder order>
constexpr std::int32_t order_key(float value) {
  if (value != value) {
    return order == NaNOrder::greatest ? std::numeric_limits<std::int32_t>::max()
                                       : std::numeric_limits<std::int32_t>::min();
  }
  const auto bits = std::bit_cast<std::int32_t>(value + 0.0f);  // -0 + 0 is +0
  return bits ^ (bits >> 31 & 0x7fffffff);
}

constexpr std::int64_t ranked(std::int32_t key, std::int64_t index) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(key) << 32 |
                                   (0xffffffffu - static_cast<std::uint32_t>(index)));
}
constexpr std::int64_t index_of(std::int64_t ranked) {
  return 0xffffffffu - static_cast<std::uint32_t>(static_cast<std::uint64_t>(ranked));
}
constexpr std::int32_t key_of(std::int64_t ranked) { return static_cast<std::int32_t>(ranked >> 32); }

static_assert(order_key<NaNOrder::greatest>(-1) < order_key<NaNOrder::greatest>(-0.5f));
static_assert(order_key<NaNOrder::greatest>(-0.0f) == order_key<NaNOrder::greatest>(0.0f));
static_assert(ranked(-5, 3) > ranked(-5, 4) && ranked(-5, 9) > ranked(-6, 0) && index_of(ranked(-5, 7)) == 7);

}  // namespace ingot
