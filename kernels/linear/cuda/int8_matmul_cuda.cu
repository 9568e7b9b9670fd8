// A block for 16 rows of weights and 32 of x, whose warps share the depth: integer sums are exact, in whatever order,
// and wrap around as the contract's do.
//
//   sum (x - p) (w - q) = sum x w - p sum w - q sum x + depth p q
#include "kernels/linear/cuda/int8_matmul_cuda.h"

#include "kernels/device/dot.h"
#include "kernels/device/matrix.h"
#include "kernels/device/memory.h"
#include "kernels/device/warp.h"

namespace ingot::device {
namespace {

constexpr unsigned tile_rows = 8;
constexpr unsigned step_depth = 32;
constexpr std::uint32_t ones = 0x01010101u;

// Four codes from `at` on; zeros where there are none.
INGOT_ON_DEVICE std::uint32_t load_codes(const Int8Factor& factor, unsigned row, unsigned at, unsigned depth) {
  if (row >= factor.rows || at >= depth) return 0;
  const std::uint32_t turned = factor.is_unsigned ? 0x80808080u : 0;
  const std::uint8_t* const from = factor.data + row * factor.stride + at;
  if (at + 4 <= depth) return load4_anywhere(from) ^ turned;
  std::uint32_t word = 0;
  for (unsigned i = 0; at + i < depth; ++i) word |= ((from[i] ^ turned) & 255u) << (8 * i);
  return word;
}

INGOT_ON_DEVICE std::uint32_t zero_of(const Int8Factor& factor, unsigned row) {
  return static_cast<std::uint32_t>(factor.zero.at(row)) - (factor.is_unsigned ? 128u : 0u);
}

// What the lanes of a warp sum: products, and each factor's own codes.
struct Sums {
  IntegerSums products[int8_tiles] = {};
  std::int32_t weights[2] = {};
  std::int32_t x[int8_tiles] = {};
};

INGOT_ON_DEVICE Sums sum_steps(const Int8Products& parameters, unsigned first_column, unsigned first_token) {
  Sums sums;
  const unsigned group = lane_index() / 4;
  for (unsigned step = warp_index(); step * step_depth < parameters.depth; step += warp_count()) {
    const unsigned at = step * step_depth + lane_index() % 4 * 4;
    std::uint32_t a[2][2];
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      INGOT_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        a[half][i] = load_codes(parameters.weights, first_column + group + 8 * half, at + 16 * i, parameters.depth);
        sums.weights[half] = dot_product_4x8(a[half][i], ones, sums.weights[half]);
      }
    }
    INGOT_UNROLL
    for (unsigned tile = 0; tile < int8_tiles; ++tile) {
      std::uint32_t b[2];
      INGOT_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        b[i] = load_codes(parameters.x, first_token + tile * tile_rows + group, at + 16 * i, parameters.depth);
        sums.x[tile] = dot_product_4x8(b[i], ones, sums.x[tile]);
      }
      matrix_multiply_16x8x32(sums.products[tile], {{a[0][0], a[1][0], a[0][1], a[1][1]}}, {{b[0], b[1]}});
    }
  }
  // The other lanes of a row have the rest of its codes.
  INGOT_UNROLL
  for (unsigned lanes = 1; lanes < 4; lanes *= 2) {
    INGOT_UNROLL
    for (unsigned half = 0; half < 2; ++half) sums.weights[half] += shuffle_xor(sums.weights[half], lanes);
    INGOT_UNROLL
    for (unsigned tile = 0; tile < int8_tiles; ++tile) sums.x[tile] += shuffle_xor(sums.x[tile], lanes);
  }
  return sums;
}

INGOT_ON_DEVICE void finish(const Int8Products& parameters, unsigned token, unsigned column, std::uint32_t sum) {
  const auto accumulator = static_cast<std::int32_t>(sum);
  if (parameters.accumulators != nullptr) {
    parameters.accumulators[token * parameters.accumulators_stride + column] = accumulator;
  }
  const float scale = parameters.x.scale.at(token) * parameters.weights.scale.at(column);
  const float scaled = static_cast<float>(accumulator) * scale;
  parameters.y[token * parameters.y_stride + column] =
      parameters.bias == nullptr ? scaled : scaled + parameters.bias[column];
}

}  // namespace

INGOT_DEVICE_FUNCTION(multiply_int8, Int8Products, 128) {
  constexpr unsigned tokens = int8_tiles * tile_rows;
  INGOT_SHARED std::uint32_t products[int8_warps][tokens][int8_columns];
  INGOT_SHARED std::uint32_t of_weights[int8_warps][int8_columns];
  INGOT_SHARED std::uint32_t of_x[int8_warps][tokens];
  const unsigned first_column = block_index() * int8_columns;
  const unsigned first_token = block_index_y() * tokens;
  const Sums sums = sum_steps(parameters, first_column, first_token);

  const unsigned warp = warp_index();
  const unsigned group = lane_index() / 4;
  INGOT_UNROLL
  for (unsigned tile = 0; tile < int8_tiles; ++tile) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      products[warp][tile * tile_rows + lane_index() % 4 * 2 + i % 2][group + i / 2 * 8] =
          static_cast<std::uint32_t>(sums.products[tile].values[i]);
    }
    if (lane_index() % 4 == 0) of_x[warp][tile * tile_rows + group] = static_cast<std::uint32_t>(sums.x[tile]);
  }
  if (lane_index() % 4 == 0) {
    of_weights[warp][group] = static_cast<std::uint32_t>(sums.weights[0]);
    of_weights[warp][group + 8] = static_cast<std::uint32_t>(sums.weights[1]);
  }
  synchronize_block();
  for (unsigned at = thread_index(); at < tokens * int8_columns; at += thread_count()) {
    const unsigned token = at / int8_columns;
    const unsigned column = at % int8_columns;
    if (first_token + token >= parameters.x.rows || first_column + column >= parameters.weights.rows) continue;
    std::uint32_t product = 0, weights = 0, x = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < int8_warps; ++i) {
      product += products[i][token][column];
      weights += of_weights[i][column];
      x += of_x[i][token];
    }
    const std::uint32_t x_zero = zero_of(parameters.x, first_token + token);
    const std::uint32_t weight_zero = zero_of(parameters.weights, first_column + column);
    finish(parameters, first_token + token, first_column + column,
           product - x_zero * weights - weight_zero * x + parameters.depth * x_zero * weight_zero);
  }
}

}  // namespace ingot::device
