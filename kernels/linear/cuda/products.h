// The frame of products by matrix instructions, over a `Way` that knows how weights of one kind and x meet:
//
//   struct Way {
//     using Parameters = ...;
//     static const DeviceProduct& product(const Parameters&);
//     template <unsigned Tiles> static void add_segment(const Parameters&, const WarpPlace&, unsigned segment,
//                                                       FloatSums (&sums)[Tiles]);
//     static float finished(const Parameters&, unsigned token, float sum);
//   };
//
// Weights are the 16 rows of the first factor, rows of x the 8 columns of the second: lane = 4 g + t has sums of weight
// rows g and g + 8 with tokens 2 t and 2 t + 1 of each tile. Where there are few tokens the warps of a block share the
// depth, segment by segment, and totals are added in the order of segments; where there are many each warp has rows of
// its own and adds in the same order as it goes. So both give an element the same bits.
#pragma once

#include "kernels/device/matrix.h"
#include "kernels/linear/cuda/token_tiles.h"

namespace ingot::device {

struct WarpPlace {
  TokenTile tokens;
  const std::byte* rows[2];  // weights g and g + 8 of the warp's 16; null: beyond the last
};

INGOT_ON_DEVICE WarpPlace warp_place(const DeviceProduct& product, const TokenTile& tokens, unsigned first_column) {
  WarpPlace place = {tokens, {nullptr, nullptr}};
  const std::byte* const matrix = product.weights + tokens.expert * product.expert_bytes;
  INGOT_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned column = first_column + lane_index() / 4 + 8 * half;
    if (column < product.columns) place.rows[half] = matrix + column * product.row_bytes;
  }
  return place;
}

template <unsigned Tiles>
INGOT_ON_DEVICE void clear(FloatSums (&sums)[Tiles]) {
  INGOT_UNROLL
  for (unsigned tile = 0; tile < Tiles; ++tile) sums[tile] = {{0, 0, 0, 0}};
}
template <unsigned Tiles>
INGOT_ON_DEVICE void add(FloatSums (&totals)[Tiles], const FloatSums (&sums)[Tiles]) {
  INGOT_UNROLL
  for (unsigned tile = 0; tile < Tiles; ++tile) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) totals[tile].values[i] = totals[tile].values[i] + sums[tile].values[i];
  }
}

// What a thread of multiply_many has of its tiles, over all segments so far.
struct RegisterTotals {
  FloatSums totals[many_tiles];

  INGOT_ON_DEVICE void begin() { clear(totals); }
  INGOT_ON_DEVICE void add_all(const FloatSums (&sums)[many_tiles]) { add(totals, sums); }
  INGOT_ON_DEVICE float value(unsigned tile, unsigned i) const { return totals[tile].values[i]; }
};

INGOT_ON_DEVICE unsigned segments_of(const DeviceProduct& product) {
  return (product.depth + segment_depth - 1) / segment_depth;
}

// A block for 16 rows of weights and one tile of tokens.
template <class Way>
INGOT_ON_DEVICE void multiply_few(const typename Way::Parameters& parameters) {
  const DeviceProduct& product = Way::product(parameters);
  const TokenTile tokens = token_tile(product, block_index_y(), tile_tokens);
  if (tokens.count == 0) return;
  const unsigned first_column = block_index() * warp_columns;
  const WarpPlace place = warp_place(product, tokens, first_column);
  float* const of_segments = dynamic_shared<float>();  // [segment][token][column]
  const unsigned segments = segments_of(product);
  for (unsigned segment = warp_index(); segment < segments; segment += warp_count()) {
    FloatSums sums[1];
    clear(sums);
    Way::template add_segment<1>(parameters, place, segment, sums);
    float* const here = of_segments + segment * (warp_columns * tile_tokens);
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned token = lane_index() % 4 * 2 + i % 2;
      here[token * warp_columns + lane_index() / 4 + i / 2 * 8] = sums[0].values[i];
    }
  }
  synchronize_block();
  for (unsigned at = thread_index(); at < warp_columns * tile_tokens; at += thread_count()) {
    const unsigned token = at / warp_columns;
    const unsigned column = first_column + at % warp_columns;
    if (token >= tokens.count || column >= product.columns) continue;
    float total = 0;
    for (unsigned segment = 0; segment < segments; ++segment) {
      total = total + of_segments[segment * (warp_columns * tile_tokens) + at];
    }
    store_sum(product, tokens.first + token, column, Way::finished(parameters, tokens.first + token, total));
  }
}

// A warp for 16 rows of weights and many_tiles tiles of tokens.
template <class Way, class Totals = RegisterTotals>
INGOT_ON_DEVICE void multiply_many(const typename Way::Parameters& parameters) {
  const DeviceProduct& product = Way::product(parameters);
  const TokenTile tokens = token_tile(product, block_index_y(), many_tiles * tile_tokens);
  if (tokens.count == 0) return;
  const unsigned first_column = (block_index() * warp_count() + warp_index()) * warp_columns;
  if (first_column >= product.columns) return;
  const WarpPlace place = warp_place(product, tokens, first_column);
  Totals totals;
  totals.begin();
  const unsigned segments = segments_of(product);
  for (unsigned segment = 0; segment < segments; ++segment) {
    FloatSums sums[many_tiles];
    clear(sums);
    Way::template add_segment<many_tiles>(parameters, place, segment, sums);
    totals.add_all(sums);
  }
  INGOT_UNROLL
  for (unsigned tile = 0; tile < many_tiles; ++tile) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned token = tile * tile_tokens + lane_index() % 4 * 2 + i % 2;
      const unsigned column = first_column + lane_index() / 4 + i / 2 * 8;
      if (token >= tokens.count || column >= product.columns) continue;
      const unsigned row = tokens.first + token;
      store_sum(product, row, column, Way::finished(parameters, row, totals.value(tile, i)));
    }
  }
}

}  // namespace ingot::device
