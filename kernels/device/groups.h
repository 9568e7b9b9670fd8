// Groups of four floats of a row, whatever its alignment. Which thread has which element depends on the row's length
// alone; only how it is moved depends on where it lies.
#pragma once

#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"

namespace ingot::device {

inline constexpr unsigned group_floats = 4;

// The group from element `at` on; zeros in place of what is beyond `length`. `is_aligned`: the row begins at a multiple
// of 16 bytes, and its length is a multiple of four.
INGOT_ON_DEVICE void load_group(float (&group)[group_floats], const float* row, unsigned at, unsigned length,
                                bool is_aligned) {
  if (is_aligned) {  // nothing but a load that may be left out: where this is known, loads that follow do not wait
    const Words16 words = at < length ? load16(row + at) : Words16{};
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) group[i] = float_of_bits(words.words[i]);
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) group[i] = at + i < length ? row[at + i] : 0;
}

// The same of what the launch never writes: such loads may be moved before stores.
INGOT_ON_DEVICE void load_constant_group(float (&group)[group_floats], const float* row, unsigned at, unsigned length,
                                         bool is_aligned) {
  if (is_aligned) {
    const Words16 words = at < length ? load16_constant(row + at) : Words16{};
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) group[i] = float_of_bits(words.words[i]);
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) group[i] = at + i < length ? load_constant(row + at + i) : 0;
}

INGOT_ON_DEVICE void store_group(const float (&group)[group_floats], float* row, unsigned at, unsigned length,
                                 bool is_aligned) {
  if (is_aligned) {
    if (at >= length) return;
    Words16 words;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) words.words[i] = bits_of(group[i]);
    store16(row + at, words);
    return;
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    if (at + i < length) row[at + i] = group[i];
  }
}

}  // namespace ingot::device
