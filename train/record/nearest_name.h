// The known name that somebody may have meant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace ingot {

// How many letters a typing slip inserted, dropped or changed (Levenshtein). Only the first letters count, so that a
// hostile text costs no more than a long word.
constexpr std::size_t edit_distance(std::string_view left, std::string_view right) {
  constexpr std::size_t longest = 64;
  left = left.substr(0, longest);
  right = right.substr(0, longest);
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (left[i] == right[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[right.size()];
}

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
