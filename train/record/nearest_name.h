// The known name that somebody may have meant.
#pragma once

#include "base/edit_distance.h"

namespace ingot {

// The first of the nearest rows' names; empty where there are no rows. Every row has a `name`.
template <class Rows>
constexpr std::string_view nearest_name(std::string_view text, const Rows& rows) {
  std::string_view best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (const auto& row : rows) {
    const std::size_t distance = edit_distance(text, row.name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = row.name;
  }
  return best;
}

}  // namespace ingot
