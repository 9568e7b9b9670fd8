// Groups of four halves of a row, moved as kernels/device/groups.h moves floats.
#pragma once

#include "kernels/device/groups.h"

namespace ingot::device {

INGOT_ON_DEVICE void store_halves(const float (&group)[group_floats], Half* row, std::uint32_t at, std::uint32_t length,
                                  bool is_aligned) {
  if (is_aligned) {
    store8(row + at, {{pack_halves(group[0], group[1]), pack_halves(group[2], group[3])}});
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    if (at + i < length) row[at + i] = to_half(group[i]);
  }
}

INGOT_ON_DEVICE void load_halves(float (&group)[group_floats], const Half* row, std::uint32_t at, std::uint32_t length,
                                 bool is_aligned) {
  if (is_aligned) {
    const Words8 words = load8(row + at);
    group[0] = first_half(words.words[0]);
    group[1] = second_half(words.words[0]);
    group[2] = first_half(words.words[1]);
    group[3] = second_half(words.words[1]);
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) group[i] = at + i < length ? to_float(row[at + i]) : 0;
}

}  // namespace ingot::device
