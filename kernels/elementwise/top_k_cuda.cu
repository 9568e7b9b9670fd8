// The k first of each row, a block a row. Elements are ranked numbers, all different (kernels/vector/order_key.h), so
// exactly k of them are not below the k-th: that one is found digit by digit from the top, by counting. Those k are
// then gathered, in whatever order, and sorted.
#include "kernels/elementwise/top_k_cuda.h"

#include "kernels/device/block.h"
#include "kernels/device/memory.h"
#include "kernels/vector/order_key.h"

namespace ingot::device {
namespace {

constexpr unsigned digit_bits = 8;
constexpr unsigned digits = 1u << digit_bits;

// Unsigned, so that digits rise with it. The smallest first is the order of inverted keys.
INGOT_ON_DEVICE std::uint64_t rank_of(float value, unsigned index, bool largest) {
  const std::int32_t key = order_key<NaNOrder::greatest>(value);
  const std::int64_t rank = ranked(largest ? key : ~key, index);
  return static_cast<std::uint64_t>(rank) ^ (std::uint64_t{1} << 63);
}

struct Threshold {
  std::uint64_t prefix;  // of ranks that are taken: those with it, and all above
  unsigned shift;        // digits below this bit are not in it
};

// The digit at which the count from above reaches `wanted`, and how many are still wanted of its ranks.
struct Chosen {
  unsigned digit;
  unsigned wanted;
  unsigned found;  // ranks with this digit
};
INGOT_ON_DEVICE Chosen choose_digit(const unsigned (&counts)[digits], unsigned wanted) {
  INGOT_SHARED unsigned chosen[3];
  if (thread_index() == 0) {
    unsigned digit = digits - 1;
    while (counts[digit] < wanted) wanted -= counts[digit--];
    chosen[0] = digit;
    chosen[1] = wanted;
    chosen[2] = counts[digit];
  }
  synchronize_block();
  const Chosen result = {chosen[0], chosen[1], chosen[2]};
  synchronize_block();
  return result;
}

INGOT_ON_DEVICE Threshold find_threshold(const float* x, const DeviceTopK& parameters) {
  INGOT_SHARED unsigned counts[digits];
  const unsigned length = parameters.x.length;
  unsigned wanted = parameters.values.length;
  Threshold threshold = {0, 64};
  while (threshold.shift > 0) {
    const unsigned shift = threshold.shift - digit_bits;
    for (unsigned digit = thread_index(); digit < digits; digit += thread_count()) counts[digit] = 0;
    synchronize_block();
    for (unsigned i = thread_index(); i < length; i += thread_count()) {
      const std::uint64_t rank = rank_of(x[i], i, parameters.largest);
      const bool continues = threshold.shift == 64 || rank >> threshold.shift == threshold.prefix;
      if (continues) atomic_add(&counts[rank >> shift & (digits - 1)], 1u);
    }
    synchronize_block();
    const Chosen chosen = choose_digit(counts, wanted);
    threshold = {threshold.prefix << digit_bits | chosen.digit, shift};
    wanted = chosen.wanted;
    if (chosen.found == wanted) break;  // all of them are taken: further digits change nothing
  }
  return threshold;
}

// Greatest first, `room` a power of two: a bitonic network.
INGOT_ON_DEVICE void sort_ranks(std::uint64_t* ranks, unsigned room) {
  for (unsigned size = 2; size <= room; size *= 2) {
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      synchronize_block();
      for (unsigned pair = thread_index(); pair < room / 2; pair += thread_count()) {
        const unsigned low = pair / distance * 2 * distance + pair % distance;
        const unsigned high = low + distance;
        const bool falls = (low & size) == 0;
        const std::uint64_t first = ranks[low];
        const std::uint64_t second = ranks[high];
        if ((first < second) == falls) {
          ranks[low] = second;
          ranks[high] = first;
        }
      }
    }
  }
  synchronize_block();
}

}  // namespace

INGOT_DEVICE_FUNCTION(top_k_rows, DeviceTopK, 1024) {
  INGOT_SHARED std::uint32_t count[1];
  const unsigned row = block_index();
  const unsigned k = parameters.values.length;
  const float* const x = parameters.x.row(row);
  std::uint64_t* const ranks = parameters.kept == nullptr ? dynamic_shared<std::uint64_t>()
                                                          : reinterpret_cast<std::uint64_t*>(parameters.kept) +
                                                                std::size_t{row} * parameters.room;
  const Threshold threshold = find_threshold(x, parameters);
  for (unsigned i = k + thread_index(); i < parameters.room; i += thread_count()) ranks[i] = 0;
  if (thread_index() == 0) count[0] = 0;
  synchronize_block();
  for (unsigned i = thread_index(); i < parameters.x.length; i += thread_count()) {
    const std::uint64_t rank = rank_of(x[i], i, parameters.largest);
    // Who comes first does not show: they are sorted, and no two are equal.
    if (rank >> threshold.shift >= threshold.prefix) ranks[atomic_add(count, 1u)] = rank;
  }
  sort_ranks(ranks, parameters.room);
  float* const values = parameters.values.row(row);
  std::int32_t* const indices = parameters.indices.row(row);
  for (unsigned i = thread_index(); i < k; i += thread_count()) {
    const auto index = static_cast<std::int32_t>(index_of(static_cast<std::int64_t>(ranks[i])));
    indices[i] = index;
    values[i] = x[index];
  }
}

}  // namespace ingot::device
