// The row-reduction kernel: a stretch of a row becomes one value, by a team of threads. Which thread takes which
// element depends on where it stands in the row alone, so the bits do not depend on how rows lie in memory.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/teams.h"

namespace ingot::device {

// Calls take(value, index) for the elements of row[begin, end) that this thread of the team has, in rising order. Four
// groups are under way at once. Precondition: begin is a multiple of four; `is_aligned`: the row begins at a multiple
// of 16 bytes.
template <class Team, class Take>
INGOT_ON_DEVICE void for_own_elements(const float* row, unsigned begin, unsigned end, bool is_aligned, Take take) {
  constexpr unsigned groups = 4;
  constexpr unsigned step = group_floats * Team::threads;
  const unsigned length = end - begin;
  for (unsigned at = group_floats * Team::rank(); at < length; at += groups * step) {
    float values[groups][group_floats];
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      const unsigned place = at + group * step;
      const bool is_whole = place < length && length - place >= group_floats;
      load_group(values[group], row + begin, place, length, is_aligned && is_whole);
    }
    INGOT_UNROLL
    for (unsigned group = 0; group < groups; ++group) {
      INGOT_UNROLL
      for (unsigned i = 0; i < group_floats; ++i) {
        const unsigned place = at + group * step + i;
        if (place < length) take(values[group][i], begin + place);
      }
    }
  }
}

}  // namespace ingot::device
