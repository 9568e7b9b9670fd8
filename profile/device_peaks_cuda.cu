// Loops that keep one part of a device busy and nothing else. Registers: the sums, 8 x 4, the factors, 6, and a
// counter: below 64, so that a multiprocessor holds 1,024 threads. No shared memory.
#include "profile/device_peaks_cuda.h"

#include "kernels/device/language.h"
#include "kernels/device/matrix.h"
#include "kernels/device/memory.h"

namespace ingot::device {

// A block reads one piece, and each thread has all its loads under way at once.
INGOT_DEVICE_FUNCTION(peak_read, PeakRead, peak_threads) {
  const std::size_t first = std::size_t{block_index()} * peak_threads * loads_in_flight + thread_index();
  Words16 loaded[loads_in_flight];
  INGOT_UNROLL
  for (unsigned load = 0; load < loads_in_flight; ++load) {
    loaded[load] = load16_streaming(parameters.data + (first + load * peak_threads) * 16);
  }
  std::uint32_t all = 0;
  INGOT_UNROLL
  for (unsigned load = 0; load < loads_in_flight; ++load) {
    for (const std::uint32_t word : loaded[load].words) all |= word;
  }
  if (all == 0) *parameters.sink = 1;
}

INGOT_DEVICE_FUNCTION(peak_multiply_adds, PeakArithmetic, peak_threads) {
  const float factor = 1.0f - 1.0f / static_cast<float>(parameters.words[0]);
  const float term = 1.0f / static_cast<float>(parameters.words[1] + thread_index());
  float sums[peak_chains];
  INGOT_UNROLL
  for (unsigned chain = 0; chain < peak_chains; ++chain) sums[chain] = static_cast<float>(chain);
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    INGOT_UNROLL
    for (unsigned chain = 0; chain < peak_chains; ++chain) sums[chain] = fused_multiply_add(sums[chain], factor, term);
  }
  float all = 0;
  INGOT_UNROLL
  for (unsigned chain = 0; chain < peak_chains; ++chain) all = all + sums[chain];
  if (all < 0) *parameters.sink = all;
}

namespace {

// Factors stay in registers: it is the matrix units that are to be busy.
template <class Sums, class Multiply>
INGOT_ON_DEVICE void multiply_matrices(const PeakArithmetic& parameters, Multiply multiply) {
  const std::uint32_t(&words)[6] = parameters.words;
  const MatrixA a = {{words[0], words[1], words[2], words[3]}};
  const MatrixB b = {{words[4], words[5]}};
  Sums sums[peak_chains] = {};
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    INGOT_UNROLL
    for (unsigned chain = 0; chain < peak_chains; ++chain) multiply(sums[chain], a, b);
  }
  float all = 0;
  INGOT_UNROLL
  for (unsigned chain = 0; chain < peak_chains; ++chain) all = all + static_cast<float>(sums[chain].values[0]);
  if (all < 0) *parameters.sink = all;
}

}  // namespace

INGOT_DEVICE_FUNCTION(peak_bf16_matrices, PeakArithmetic, peak_threads) {
  multiply_matrices<FloatSums>(parameters, [](FloatSums& sums, const MatrixA& a, const MatrixB& b) {
    matrix_multiply_16x8x16<BFloat16>(sums, a, b);
  });
}

INGOT_DEVICE_FUNCTION(peak_int8_matrices, PeakArithmetic, peak_threads) {
  multiply_matrices<IntegerSums>(
      parameters, [](IntegerSums& sums, const MatrixA& a, const MatrixB& b) { matrix_multiply_16x8x32(sums, a, b); });
}

INGOT_DEVICE_FUNCTION(peak_nothing, PeakNothing, 32) {}

}  // namespace ingot::device
