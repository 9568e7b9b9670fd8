// Which keys a query may see. Queries and keys have positions: key j stands at position j, query i at
// query_offset + i. A prefix of Skv - Sq cached keys is query_offset = Skv - Sq; nothing chooses it silently.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/contract/constraints.h"

namespace ingot {

enum class MaskKind : std::uint8_t { full, causal };

// Keys outside of [begin, end) take no part at all, whatever they hold.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Positions, offsets and windows stay far from the ends of 64 bits, so that their sums cannot overflow.
inline constexpr std::int64_t position_limit = std::int64_t{1} << 31;

// causal: j <= position. A window of w > 0 keeps the keys less than w positions away.
constexpr KeyRange visible_keys(MaskKind kind, std::int64_t window, std::int64_t position, std::int64_t keys) {
  KeyRange range{0, keys};
  if (kind == MaskKind::causal) range.end = std::min(range.end, position + 1);
  if (window > 0) {
    range.begin = std::max<std::int64_t>(range.begin, position - window + 1);
    range.end = std::min(range.end, position + window);
  }
  range.end = std::max<std::int64_t>(range.end, 0);
  range.begin = std::min(range.begin, range.end);
  return range;
}

inline Result<void> require_mask_kind(std::string_view operation, std::string_view number, MaskKind kind) {
  if (kind == MaskKind::full || kind == MaskKind::causal) return {};
  return violated(operation, number, "expected mask_kind full (0) or causal (1), found ",
                  static_cast<std::int64_t>(kind));
}

inline Result<void> require_position(std::string_view operation, std::string_view number, std::string_view field,
                                     std::int64_t lowest, std::int64_t value) {
  if (value >= lowest && value <= position_limit) return {};
  return violated(operation, number, "expected ", field, " from ", lowest, " to ", position_limit, ", found ", value);
}

inline Result<void> require_finite(std::string_view operation, std::string_view number, std::string_view field,
                                   float value) {
  if (std::isfinite(value)) return {};
  return violated(operation, number, "expected a finite ", field, ", found one that is not");
}

}  // namespace ingot
