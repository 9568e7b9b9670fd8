// How far apart two names are: to guess what somebody may have meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

// How many letters a typing slip inserted, dropped or changed (Levenshtein). Only the first letters count, so that a
// hostile text costs no more than a long word.
constexpr std::size_t edit_distance(std::string_view left, std::string_view right) {
  constexpr std::size_t longest = 64;
  left = left.substr(0, longest);
  right = right.substr(0, longest);
  std::size_t row[longest + 1] = {};
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t above = row[j + 1];
      std::size_t least = diagonal + (left[i] == right[j] ? 0 : 1);
      if (above + 1 < least) least = above + 1;
      if (row[j] + 1 < least) least = row[j] + 1;
      row[j + 1] = least;
      diagonal = above;
    }
  }
  return row[right.size()];
}

}  // namespace ingot
