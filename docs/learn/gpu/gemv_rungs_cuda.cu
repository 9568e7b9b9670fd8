// A product of one row with weights of 16 bits, from a thread a row of weights to the memory's limit.
#include "docs/learn/gpu/rungs.h"
#include "kernels/device/block.h"
#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"

namespace ingot::device {
namespace {

constexpr unsigned together = 8;  // halves in 16 bytes

// sum + eight products.
INGOT_ON_DEVICE float add_eight(Words16 weights, const float* x, float sum) {
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    sum = fused_multiply_add(first_half(weights.words[i]), x[2 * i], sum);
    sum = fused_multiply_add(second_half(weights.words[i]), x[2 * i + 1], sum);
  }
  return sum;
}

struct Eight {
  float values[together];
};
INGOT_ON_DEVICE Eight load_eight(const float* from) {
  Eight eight;
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const Words16 words = load16_constant(from + 4 * half);
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) eight.values[4 * half + i] = float_of_bits(words.words[i]);
  }
  return eight;
}

// The part of a row's sum that a thread has, of `threads` that share it: four loads are under way before the first is
// used.
template <unsigned Rows>
INGOT_ON_DEVICE void add_rows(const GemvRung& parameters, const Half* const (&rows)[Rows], unsigned rank,
                              unsigned threads, float (&sums)[Rows]) {
  constexpr unsigned flights = 4;
  for (unsigned begin = 0; begin < parameters.depth; begin += flights * together * threads) {
    Words16 weights[Rows][flights];
    INGOT_UNROLL
    for (unsigned n = 0; n < flights; ++n) {
      INGOT_UNROLL
      for (unsigned row = 0; row < Rows; ++row) {
        weights[row][n] = load16_streaming(rows[row] + begin + together * (n * threads + rank));
      }
    }
    INGOT_UNROLL
    for (unsigned n = 0; n < flights; ++n) {
      const Eight x = load_eight(parameters.x + begin + together * (n * threads + rank));
      INGOT_UNROLL
      for (unsigned row = 0; row < Rows; ++row) sums[row] = add_eight(weights[row][n], x.values, sums[row]);
    }
  }
}

}  // namespace

// Rung 1. Neighbouring threads read addresses that are a row apart.
INGOT_DEVICE_FUNCTION(gemv_thread_a_row, GemvRung, 256) {
  const unsigned row = block_index() * thread_count() + thread_index();
  if (row >= parameters.rows) return;
  const std::uint64_t first = std::uint64_t{row} * parameters.depth;
  float sum = 0;
  for (unsigned k = 0; k < parameters.depth; ++k) {
    sum = fused_multiply_add(to_float(parameters.weights[first + k]), parameters.x[k], sum);
  }
  parameters.y[row] = sum;
}

// Rung 2. Neighbouring lanes read neighbouring halves.
INGOT_DEVICE_FUNCTION(gemv_warp_a_row, GemvRung, 256) {
  const unsigned row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;
  const std::uint64_t first = std::uint64_t{row} * parameters.depth;
  float sum = 0;
  for (unsigned k = lane_index(); k < parameters.depth; k += warp_size) {
    sum = fused_multiply_add(to_float(parameters.weights[first + k]), parameters.x[k], sum);
  }
  sum = warp_sum(sum);
  if (lane_index() == 0) parameters.y[row] = sum;
}

// Rung 3. 16 bytes at a time.
INGOT_DEVICE_FUNCTION(gemv_warp_by_eights, GemvRung, 256) {
  const unsigned row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;
  const Half* const weights = parameters.weights + std::uint64_t{row} * parameters.depth;
  float sum = 0;
  for (unsigned k = together * lane_index(); k < parameters.depth; k += together * warp_size) {
    const Words16 eight = load16_streaming(weights + k);
    sum = add_eight(eight, load_eight(parameters.x + k).values, sum);
  }
  sum = warp_sum(sum);
  if (lane_index() == 0) parameters.y[row] = sum;
}

// Rung 4. Four of them under way.
INGOT_DEVICE_FUNCTION(gemv_warp_in_flight, GemvRung, 256) {
  const unsigned row = block_index() * warp_count() + warp_index();
  if (row >= parameters.rows) return;
  const Half* const rows[1] = {parameters.weights + std::uint64_t{row} * parameters.depth};
  float sums[1] = {0};
  add_rows(parameters, rows, lane_index(), warp_size, sums);
  const float sum = warp_sum(sums[0]);
  if (lane_index() == 0) parameters.y[row] = sum;
}

// Rung 5. Two rows a warp: what was loaded of x serves both, and eight loads are under way. 32 registers of weights, 8
// of x, and addresses: below 64, so that four blocks fit an SM's 65,536.
INGOT_DEVICE_FUNCTION(gemv_warp_two_rows, GemvRung, 256) {
  const unsigned row = 2 * (block_index() * warp_count() + warp_index());
  if (row >= parameters.rows) return;
  const Half* const first = parameters.weights + std::uint64_t{row} * parameters.depth;
  const Half* const rows[2] = {first, first + parameters.depth};
  float sums[2] = {0, 0};
  add_rows(parameters, rows, lane_index(), warp_size, sums);
  sums[0] = warp_sum(sums[0]);
  sums[1] = warp_sum(sums[1]);
  if (lane_index() == 0) {
    parameters.y[row] = sums[0];
    parameters.y[row + 1] = sums[1];
  }
}

// Rung 6. Two rows a block: for matrices of few rows, whose warps would not fill the GPU. The parts are joined in an
// order that comes from the number of threads alone.
INGOT_DEVICE_FUNCTION(gemv_block_two_rows, GemvRung, 256) {
  const unsigned row = 2 * block_index();
  const Half* const first = parameters.weights + std::uint64_t{row} * parameters.depth;
  const Half* const rows[2] = {first, first + parameters.depth};
  float sums[2] = {0, 0};
  add_rows(parameters, rows, thread_index(), rung_threads, sums);
  sums[0] = block_sum(sums[0]);
  sums[1] = block_sum(sums[1]);
  if (thread_index() == 0) {
    parameters.y[row] = sums[0];
    parameters.y[row + 1] = sums[1];
  }
}

}  // namespace ingot::device
