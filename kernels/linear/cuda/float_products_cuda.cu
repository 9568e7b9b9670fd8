// Products of floats, by tiles in shared memory. The order of an element's sum depends on the depth alone.
#include "kernels/linear/cuda/float_products_cuda.h"

#include "kernels/device/numbers.h"
#include "kernels/linear/cuda/token_tiles.h"

namespace ingot::device {
namespace {

constexpr unsigned stage_depth = 16;
static_assert(float_chunk % stage_depth == 0);

// Rows of a factor, a stage of their depth, with the depth first: neighbours of a row of the tile are read together.
// What is beyond the ends is zero.
template <unsigned Rows>
INGOT_ON_DEVICE void load_tile(float (&tile)[stage_depth][Rows + 1], const FloatFactor& factor, const float* data,
                               unsigned first, unsigned rows, unsigned begin, unsigned depth) {
  const bool along_depth = factor.depth_stride == 1;
  for (unsigned at = thread_index(); at < Rows * stage_depth; at += thread_count()) {
    const unsigned row = along_depth ? at / stage_depth : at % Rows;
    const unsigned k = along_depth ? at % stage_depth : at / Rows;
    const bool is_there = row < rows && begin + k < depth;
    tile[k][row] = is_there ? data[(first + row) * factor.row_stride + (begin + k) * factor.depth_stride] : 0;
  }
}

// Threads have Columns / ThreadColumns by Tokens / ThreadTokens, columns fastest.
template <unsigned Columns, unsigned Tokens, unsigned ThreadColumns, unsigned ThreadTokens>
INGOT_ON_DEVICE void multiply_floats(const FloatProducts& parameters) {
  constexpr unsigned column_threads = Columns / ThreadColumns;
  INGOT_SHARED float weights[stage_depth][Columns + 1];
  INGOT_SHARED float x[stage_depth][Tokens + 1];
  const DeviceProduct& product = parameters.product;
  const TokenTile tokens = token_tile(product, block_index_y(), Tokens);
  if (tokens.count == 0) return;
  const unsigned first_column = block_index() * Columns;
  const unsigned columns_left = product.columns - first_column;
  const std::int64_t batch = std::int64_t{parameters.first_batch} + block_index_z();
  const float* const x_data = parameters.x.data + batch * parameters.x.batch_stride;
  const float* const weights_data = parameters.weights.data + (batch + tokens.expert) * parameters.weights.batch_stride;
  const unsigned my_column = thread_index() % column_threads;
  const unsigned my_token = thread_index() / column_threads;

  float totals[ThreadColumns][ThreadTokens] = {};
  float sums[ThreadColumns][ThreadTokens] = {};
  for (unsigned begin = 0; begin < product.depth; begin += stage_depth) {
    synchronize_block();
    load_tile<Columns>(weights, parameters.weights, weights_data, first_column, columns_left, begin, product.depth);
    load_tile<Tokens>(x, parameters.x, x_data, tokens.first, tokens.count, begin, product.depth);
    synchronize_block();
    INGOT_UNROLL
    for (unsigned k = 0; k < stage_depth; ++k) {
      INGOT_UNROLL
      for (unsigned i = 0; i < ThreadColumns; ++i) {
        INGOT_UNROLL
        for (unsigned j = 0; j < ThreadTokens; ++j) {
          sums[i][j] = fused_multiply_add(weights[k][my_column + i * column_threads],
                                          x[k][my_token + j * (Tokens / ThreadTokens)], sums[i][j]);
        }
      }
    }
    if ((begin + stage_depth) % float_chunk != 0 && begin + stage_depth < product.depth) continue;
    INGOT_UNROLL
    for (unsigned i = 0; i < ThreadColumns; ++i) {
      INGOT_UNROLL
      for (unsigned j = 0; j < ThreadTokens; ++j) {
        totals[i][j] = totals[i][j] + sums[i][j];
        sums[i][j] = 0;
      }
    }
  }
  DeviceProduct of_batch = product;
  of_batch.y = product.y + batch * parameters.y_batch_stride;
  INGOT_UNROLL
  for (unsigned i = 0; i < ThreadColumns; ++i) {
    INGOT_UNROLL
    for (unsigned j = 0; j < ThreadTokens; ++j) {
      const unsigned column = first_column + my_column + i * column_threads;
      const unsigned token = my_token + j * (Tokens / ThreadTokens);
      if (column < product.columns && token < tokens.count) {
        store_sum(of_batch, tokens.first + token, column, totals[i][j]);
      }
    }
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(multiply_few_f32, FloatProducts, 128) {
  multiply_floats<few_float_columns, few_float_tokens, 1, 1>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_many_f32, FloatProducts, 256) {
  multiply_floats<many_float_columns, many_float_tokens, 4, 4>(parameters);
}

}  // namespace ingot::device
