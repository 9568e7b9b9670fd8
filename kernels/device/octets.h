// Octets: eight neighbouring elements a lane, so that a warp has 256. Blocks of 32 are then four lanes, blocks of 256
// the warp, and groups of 16 two lanes: what makes 8-bit codes of activations needs no more.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/warp.h"

namespace ingot::device {

inline constexpr unsigned octet = 8;

// The elements from `at` on; zeros beyond `length`.
INGOT_ON_DEVICE void load_octet(float (&values)[octet], const float* row, unsigned at, unsigned length,
                                bool is_aligned) {
  INGOT_UNROLL
  for (unsigned half = 0; half < octet; half += group_floats) {
    float group[group_floats];
    load_group(group, row, at + half, length, is_aligned);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values[half + i] = group[i];
  }
}

// The bits of the largest magnitude of this lane's block of 32 or 256. Magnitudes order as their bits do, NaN above
// infinity. All lanes take part.
INGOT_ON_DEVICE std::uint32_t largest_bits_of_block(const float (&values)[octet], unsigned block) {
  std::uint32_t largest = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) largest = Greatest{}(largest, bits_of(values[i]) & 0x7fffffffu);
  for (unsigned lanes = block / octet / 2; lanes > 0; lanes /= 2) {
    largest = Greatest{}(largest, shuffle_xor(largest, lanes));
  }
  return largest;
}

// The sum of the codes of this lane and its neighbour: of a group of 16. All lanes take part.
INGOT_ON_DEVICE std::int32_t sum_of_sixteen(const std::int8_t (&codes)[octet]) {
  std::int32_t sum = 0;
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) sum += codes[i];
  return sum + shuffle_xor(sum, 1);
}

INGOT_ON_DEVICE void store_octet(const std::int8_t (&codes)[octet], std::int8_t* to) {
  if (reinterpret_cast<std::uintptr_t>(to) % octet != 0) {
    INGOT_UNROLL
    for (unsigned i = 0; i < octet; ++i) to[i] = codes[i];
    return;
  }
  Words8 words = {};
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) {
    words.words[i / 4] |= std::uint32_t{static_cast<std::uint8_t>(codes[i])} << 8 * (i % 4);
  }
  store8(to, words);
}

}  // namespace ingot::device
