// A row of x rounded to 16 bits by the threads of a block: what meets weights of 16 bits.
#pragma once

#include "kernels/device/block.h"
#include "kernels/device/groups.h"
#include "kernels/device/half_scale.h"
#include "kernels/linear/cuda/half_products_cuda.h"

namespace ingot::device {

struct FloatRow {
  const float* numbers;
  unsigned depth;
  bool is_aligned;  // whole groups of 16 bytes

  // Calls take(group, at) for the groups of four that are this thread's, zeros beyond the depth up to whole chunks. A
  // few are under way at once.
  template <class Take>
  INGOT_ON_DEVICE void for_own_groups(Take take) const {
    constexpr unsigned together = 2;
    const unsigned end = (depth + half_chunk - 1) / half_chunk * half_chunk;
    const unsigned step = thread_count() * group_floats;
    for (unsigned first = thread_index() * group_floats; first < end; first += together * step) {
      float groups[together][group_floats];
      INGOT_UNROLL
      for (unsigned i = 0; i < together; ++i) load_group(groups[i], numbers, first + i * step, depth, is_aligned);
      INGOT_UNROLL
      for (unsigned i = 0; i < together; ++i) {
        if (first + i * step < end) take(groups[i], first + i * step);
      }
    }
  }

  // As bits, which order as magnitudes do. All threads get it.
  INGOT_ON_DEVICE std::uint32_t largest_finite() const {
    std::uint32_t largest = 0;
    for_own_groups([&](const float(&group)[group_floats], unsigned) {
      INGOT_UNROLL
      for (unsigned i = 0; i < group_floats; ++i) {
        if (is_finite(group[i])) largest = Greatest{}(largest, bits_of(group[i]) & 0x7fffffffu);
      }
    });
    return block_maximum(largest);
  }

  // Whole chunks, to a multiple of 8 bytes. Returns what sums of them are multiplied by: 1 where they are not scaled.
  INGOT_ON_DEVICE float round_to_halves(std::byte* to) const {
    const HalfScale scale = half_scale(largest_finite());
    for_own_groups([&](const float(&group)[group_floats], unsigned at) {
      store8(to + at * sizeof(std::uint16_t), {{pack_halves(group[0] * scale.to_halves, group[1] * scale.to_halves),
                                                pack_halves(group[2] * scale.to_halves, group[3] * scale.to_halves)}});
    });
    return scale.from_halves;
  }
  INGOT_ON_DEVICE float round_to_bfloat16s(std::byte* to) const {
    for_own_groups([&](const float(&group)[group_floats], unsigned at) {
      store8(to + at * sizeof(std::uint16_t),
             {{pack_bfloat16s(group[0], group[1]), pack_bfloat16s(group[2], group[3])}});
    });
    return 1;
  }
};

}  // namespace ingot::device
