// The frame of products with many tokens: a block has 128 rows of weights, 16 of each warp, and 64 tokens. Tiles of
// both factors come into shared memory by asynchronous copies, some ahead of what is multiplied, over a `Way` as
// streamed.h wants it, with
//
//   static constexpr unsigned x_bytes;             of 64 tokens of x by a tile's depth
//   static constexpr unsigned tiled_stages;
//   static void copy_x(const Parameters&, const TokenTile&, unsigned tile, std::byte* to);        by all threads
//   static void add_tiles(const Parameters&, const StreamPlace&, unsigned tile, const std::byte* x,
//                         const std::byte* weights, FloatSums (&sums)[many_tiles]);
//
// Sums of a segment run from zero and then into the total, in the order of segments: an element has the same bits as
// among few tokens.
//
// Registers: sums and totals of eight tiles of tokens, 64; a tile's share of weights, at most 40; a span of x, 16.
#pragma once

#include "kernels/linear/cuda/products.h"
#include "kernels/linear/cuda/streamed.h"

namespace ingot::device {

template <class Way>
struct TileRing {
  static constexpr unsigned stages = Way::tiled_stages;
  static constexpr unsigned stage_bytes = Way::x_bytes + tiled_warps * Way::stage_bytes;

  static INGOT_ON_DEVICE std::byte* x(unsigned tile) {
    return dynamic_shared<std::byte>() + tile % stages * stage_bytes;
  }
  static INGOT_ON_DEVICE std::byte* weights(unsigned tile) {
    return x(tile) + Way::x_bytes + warp_index() * Way::stage_bytes;
  }
  static INGOT_ON_DEVICE void copy(const typename Way::Parameters& parameters, const StreamPlace& place,
                                   const typename Way::Source& source, unsigned tile, unsigned tiles) {
    if (tile < tiles) {
      Way::copy_x(parameters, place.tokens, tile, x(tile));
      if (place.columns > 0) Way::copy_tile(source, tile, weights(tile));
    }
    commit_copies();
  }
};

template <class Way>
INGOT_ON_DEVICE void multiply_tiled(const typename Way::Parameters& parameters) {
  using Ring = TileRing<Way>;
  const DeviceProduct& product = parameters.joined.parts[0];
  const TokenTile tokens = token_tile(product, block_index_y(), many_tiles * tile_tokens);
  if (tokens.count == 0) return;
  const unsigned first_column = (block_index() * tiled_warps + warp_index()) * warp_columns;
  const unsigned left = first_column < product.columns ? product.columns - first_column : 0;
  const std::byte* const matrix = product.weights + tokens.expert * product.expert_bytes;
  const StreamPlace place = {tokens, left > 0 ? matrix + first_column * product.row_bytes : matrix,
                             left < warp_columns ? left : warp_columns, 0, parameters.joined.types[0]};
  const typename Way::Source source = Way::source(parameters, place);
  const unsigned tiles = Way::tiles(product);
  INGOT_UNROLL
  for (unsigned tile = 0; tile + 1 < Ring::stages; ++tile) Ring::copy(parameters, place, source, tile, tiles);
  FloatSums totals[many_tiles], sums[many_tiles];
  clear(totals);
  clear(sums);
  for (unsigned tile = 0; tile < tiles; ++tile) {
    wait_for_copies<Ring::stages - 2>();
    synchronize_block();  // all copies of this tile are there, and all have read what the next one goes over
    Ring::copy(parameters, place, source, tile + Ring::stages - 1, tiles);
    if (place.columns > 0) Way::add_tiles(parameters, place, tile, Ring::x(tile), Ring::weights(tile), sums);
    if ((tile + 1) % Way::segment_tiles == 0 || tile + 1 == tiles) {
      add(totals, sums);
      clear(sums);
    }
  }
  INGOT_UNROLL
  for (unsigned tile = 0; tile < many_tiles; ++tile) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned token = tile * tile_tokens + lane_index() % 4 * 2 + i % 2;
      const unsigned column = lane_index() / 4 + i / 2 * 8;
      if (token >= tokens.count || column >= place.columns) continue;
      const unsigned row = tokens.first + token;
      store_sum(product, row, first_column + column, Way::finished(parameters, row, totals[tile].values[i]));
    }
  }
}

}  // namespace ingot::device
