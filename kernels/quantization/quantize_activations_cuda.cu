#include "kernels/quantization/quantize_activations_cuda.h"

#include "kernels/device/octets.h"
#include "kernels/vector/activation_codes.h"

namespace ingot::device {

INGOT_DEVICE_FUNCTION(quantize_activation_rows, QuantizeActivationRows, 256) {
  const std::uint64_t warp = std::uint64_t{block_index()} * warp_count() + warp_index();
  const auto row = static_cast<std::uint32_t>(warp / parameters.pieces);
  if (row >= parameters.x.count) return;  // a whole warp: nobody waits for it
  const std::uint32_t length = parameters.x.length;
  const auto at = static_cast<std::uint32_t>(warp % parameters.pieces) * warp_size * octet + octet * lane_index();
  float values[octet];
  load_octet(values, parameters.x.row(row), at, length, parameters.is_aligned);
  const ActivationScale made = activation_scale(largest_bits_of_block(values, parameters.block));
  std::int8_t codes[octet];
  INGOT_UNROLL
  for (unsigned i = 0; i < octet; ++i) codes[i] = activation_code(values[i], made.inverse);
  const std::int32_t sum = sum_of_sixteen(codes);
  if (at >= length) return;
  store_octet(codes, parameters.codes.row(row) + at);
  if (at % parameters.block == 0) parameters.scales.row(row)[at / parameters.block] = made.scale;
  if (parameters.sums.data != nullptr && at % 16 == 0) parameters.sums.row(row)[at / 16] = sum;
}

}  // namespace ingot::device
