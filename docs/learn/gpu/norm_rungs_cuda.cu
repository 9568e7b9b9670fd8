// A row norm, from a thread a row to the memory's limit.
#include "docs/learn/gpu/rungs.h"
#include "kernels/device/block.h"
#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"

namespace ingot::device {
namespace {

INGOT_ON_DEVICE float scale_of(const NormRung& parameters, float squares) {
  return 1 / square_root(squares / static_cast<float>(parameters.length) + parameters.epsilon);
}

struct Four {
  float values[4];
};
INGOT_ON_DEVICE Four load_four(const float* from) {
  const Words16 words = load16(from);
  return {{float_of_bits(words.words[0]), float_of_bits(words.words[1]), float_of_bits(words.words[2]),
           float_of_bits(words.words[3])}};
}
INGOT_ON_DEVICE float squares_of(Four four, float sum) {
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) sum = fused_multiply_add(four.values[i], four.values[i], sum);
  return sum;
}
INGOT_ON_DEVICE void store_scaled(Four four, Four gamma, float scale, float* to) {
  Words16 words;
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) words.words[i] = bits_of(gamma.values[i] * (four.values[i] * scale));
  store16(to, words);
}

}  // namespace

// Rung 1. Neighbouring threads read addresses that are a row apart.
INGOT_DEVICE_FUNCTION(norm_thread_a_row, NormRung, 256) {
  const unsigned row = block_index() * thread_count() + thread_index();
  if (row >= parameters.rows) return;
  const std::uint64_t first = std::uint64_t{row} * parameters.length;
  float squares = 0;
  for (unsigned i = 0; i < parameters.length; ++i) {
    const float x = parameters.x[first + i];
    squares = fused_multiply_add(x, x, squares);
  }
  const float scale = scale_of(parameters, squares);
  for (unsigned i = 0; i < parameters.length; ++i) {
    parameters.y[first + i] = parameters.gamma[i] * (parameters.x[first + i] * scale);
  }
}

// Rung 2. Neighbouring lanes read neighbouring floats.
INGOT_DEVICE_FUNCTION(norm_warp_a_row, NormRung, 256) {
  const unsigned row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;
  const std::uint64_t first = std::uint64_t{row} * parameters.length;
  float squares = 0;
  for (unsigned i = lane_index(); i < parameters.length; i += warp_size) {
    const float x = parameters.x[first + i];
    squares = fused_multiply_add(x, x, squares);
  }
  const float scale = scale_of(parameters, warp_sum(squares));
  for (unsigned i = lane_index(); i < parameters.length; i += warp_size) {
    parameters.y[first + i] = parameters.gamma[i] * (parameters.x[first + i] * scale);
  }
}

// Rung 3. 16 bytes at a time.
INGOT_DEVICE_FUNCTION(norm_warp_by_fours, NormRung, 256) {
  const unsigned row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;
  const std::uint64_t first = std::uint64_t{row} * parameters.length;
  float squares = 0;
  for (unsigned i = 4 * lane_index(); i < parameters.length; i += 4 * warp_size) {
    squares = squares_of(load_four(parameters.x + first + i), squares);
  }
  const float scale = scale_of(parameters, warp_sum(squares));
  for (unsigned i = 4 * lane_index(); i < parameters.length; i += 4 * warp_size) {
    store_scaled(load_four(parameters.x + first + i), load_four(parameters.gamma + i), scale, parameters.y + first + i);
  }
}

// Rung 4. A block a row, which it keeps in registers: 16 floats a thread, all of them asked for before the first is
// needed, and none of them twice. 16 registers of the row, as many of gamma on its way, and addresses: below 64, so
// that eight blocks fit an SM's 65,536.
INGOT_DEVICE_FUNCTION(norm_block_keeps_a_row, NormRung, 256) {
  constexpr unsigned fours = norm_kept / (4 * rung_threads);
  const std::uint64_t first = std::uint64_t{block_index()} * parameters.length;
  Four kept[fours];
  INGOT_UNROLL
  for (unsigned n = 0; n < fours; ++n) {
    const unsigned i = 4 * (n * rung_threads + thread_index());
    kept[n] = i < parameters.length ? load_four(parameters.x + first + i) : Four{};
  }
  float squares = 0;
  INGOT_UNROLL
  for (unsigned n = 0; n < fours; ++n) squares = squares_of(kept[n], squares);
  const float scale = scale_of(parameters, block_sum(squares));
  INGOT_UNROLL
  for (unsigned n = 0; n < fours; ++n) {
    const unsigned i = 4 * (n * rung_threads + thread_index());
    if (i < parameters.length) {
      store_scaled(kept[n], load_four(parameters.gamma + i), scale, parameters.y + first + i);
    }
  }
}

}  // namespace ingot::device
