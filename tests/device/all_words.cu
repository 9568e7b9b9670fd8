// Every word of kernels/device, once: compiled by the device's compiler to see that they mean something there too. What
// they mean is proved by tests of the emulated device, and by kernels on a real one.
#include "kernels/device/block.h"
#include "kernels/device/dot.h"
#include "kernels/device/language.h"
#include "kernels/device/matrix.h"
#include "kernels/device/memory.h"
#include "kernels/device/numbers.h"
#include "kernels/device/rows.h"
#include "kernels/device/view.h"
#include "kernels/device/warp.h"

namespace ingot::device {

struct AllWords {
  DeviceRows<const Half> halves;
  DeviceTensor<float> floats;
  const void* from;
  void* to;
  std::uint32_t* words;
  std::int32_t* integers;
  double* doubles;
};

INGOT_DEVICE_FUNCTION(use_places, AllWords, 256) {
  parameters.words[thread_index()] = thread_count() + block_index() + block_index_y() + block_index_z() +
                                     block_count() + block_count_y() + block_count_z() + lane_index() + warp_index() +
                                     warp_count();
  synchronize_block();
  synchronize_warp();
  if (dynamic_shared<float>()[thread_index()] > 1) stop();
  parameters.floats(1, 2) = to_float(parameters.halves.row(thread_index())[0]);
  parameters.floats.at(7) = infinity;
}

template <class Value>
INGOT_ON_DEVICE Value use_warp(Value value) {
  value = shuffle_index(value, 3) + shuffle_xor(value, 1) + shuffle_up(value, 2) + shuffle_down(value, 1);
  value = value + warp_sum(value) + warp_maximum(value) + warp_minimum(value) + warp_inclusive_scan(value);
  value = value + warp_reduce(value, Sum{}) + block_reduce(value, Greatest{}) + block_reduce(value, Least{});
  value = value + block_sum(value) + block_maximum(value) + block_minimum(value);
  const Indexed<Value> indexed = {value, static_cast<std::int32_t>(thread_index())};
  const Scanned<Value> scanned = block_scan(value);
  return value + block_reduce(indexed, FirstGreatest{}).value + warp_reduce(indexed, FirstLeast{}).value +
         scanned.inclusive + scanned.total;
}

INGOT_DEVICE_FUNCTION(use_threads, AllWords, 1024) {
  parameters.doubles[thread_index()] = use_warp(parameters.doubles[thread_index()]);
  parameters.words[thread_index()] = use_warp(parameters.words[thread_index()]);
  parameters.floats(thread_index()) = use_warp(parameters.floats(thread_index()));
  const bool vote = parameters.integers[thread_index()] > 0;
  parameters.integers[thread_index()] =
      static_cast<std::int32_t>(count_ones(ballot(vote)) + (any_lane(vote) ? 1 : 0) + (all_lanes(vote) ? 2 : 0));
}

INGOT_DEVICE_FUNCTION(use_memory, AllWords, 256) {
  INGOT_SHARED Words16 tile[256];
  const auto* words = static_cast<const Words16*>(parameters.from) + thread_index();
  const auto* floats = static_cast<const float*>(parameters.from) + thread_index();
  auto* to = static_cast<Words16*>(parameters.to) + thread_index();
  prefetch(words + 1024);
  copy_async16(tile + thread_index(), words);
  commit_copies();
  copy_async16(tile + thread_index(), words, 8);
  copy_async4(tile, floats);
  commit_copies();
  wait_for_copies<1>();
  wait_for_copies<0>();
  synchronize_block();
  store16(to, load16(tile + thread_index()));
  store16_streaming(to + 256, load16_streaming(words));
  store16(to + 512, load16_constant(words));
  store8(to + 768, load8(words));
  store_streaming(&parameters.floats(0), load_streaming(floats) + load_constant(floats));
  parameters.words[0] += atomic_add(parameters.words + 1, 2) + atomic_maximum(parameters.words + 2, 3);
  parameters.integers[0] += atomic_add(parameters.integers + 1, 2);
  fence_device();
}

INGOT_DEVICE_FUNCTION(use_numbers, AllWords, 256) {
  const float x = parameters.floats(thread_index());
  const double d = parameters.doubles[thread_index()];
  float y = fused_multiply_add(x, x, x) + square_root(x) + exponential(x) + exponential_of_2(x) +
            exponential_minus_1(x) + logarithm(x) + logarithm_of_1_plus(x) + power(x, 3) + sine(x) + cosine(x) +
            hyperbolic_tangent(x) + error_function(x) + absolute(x) + round_down(x) + round_to_zero(x) +
            round_to_even(x) + copy_sign(x, -1) + maximum(x, 1) + minimum(x, 2) + approximate_exponential_of_2(x);
  parameters.doubles[thread_index()] =
      fused_multiply_add(d, d, d) + square_root(d) + exponential(d) + logarithm(d) + sine(d) + cosine(d) + absolute(d);
  if (is_nan(y) || !is_finite(y)) y = float_of_bits(bits_of(y) + 1);
  y += to_float(to_half(y)) + to_float(to_bfloat16(y)) + to_float(y) + to_float(from_float<Half>(y)) +
       to_float(from_float<BFloat16>(y)) + from_float<float>(y) + to_float(half_of_bits(7));
  const std::uint32_t word = pack_halves(x, y) ^ pack_bfloat16s(y, x);
  y += first_half(word) + second_half(word) + first_bfloat16(word) + second_bfloat16(word);
  parameters.floats(thread_index()) = y;
  parameters.integers[thread_index()] = nearest_integer(y) + dot_product_4x8(word, 7, 1) +
                                        dot_product_4x8_unsigned_signed(word, 7, 2) +
                                        static_cast<std::int32_t>(dot_product_4x8_unsigned(word, 7, 3));
}

INGOT_DEVICE_FUNCTION(use_matrices, AllWords, 32) {
  INGOT_SHARED Half tile[1024];
  const Half* row = tile + lane_index() * 8;
  FloatSums sums = {};
  IntegerSums integers = {};
  const MatrixWords<4> four = load_matrices<4>(row);
  const MatrixWords<2> two = load_matrices<2>(row);
  const MatrixWords<4> turned = load_matrices_transposed<4>(row);
  const MatrixWords<2> turned_two = load_matrices_transposed<2>(row);
  const MatrixA a = {{four.words[0], four.words[1], turned.words[2], turned.words[3]}};
  const MatrixB b = {
      {two.words[0] ^ load_matrices<1>(row).words[0], turned_two.words[1] ^ load_matrices_transposed<1>(row).words[0]}};
  matrix_multiply_16x8x16<Half>(sums, a, b);
  matrix_multiply_16x8x16<BFloat16>(sums, a, b);
  matrix_multiply_16x8x32(integers, a, b);
  for (int i = 0; i < 4; ++i) {
    parameters.floats(lane_index(), i) = sums.values[i];
    parameters.integers[lane_index() * 4 + i] = integers.values[i];
  }
}

}  // namespace ingot::device
