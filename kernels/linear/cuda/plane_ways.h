// Products with weights in planes, over the formats that a list names, as the frames of streamed.h and tiled.h want
// them.
#pragma once

#include "kernels/linear/cuda/one_token_codes.h"
#include "kernels/linear/cuda/tiled.h"

namespace ingot::device {

template <unsigned Blocks, unsigned Stages, unsigned StageBytes, class WithBlock>
struct PlaneWay {
  using Parameters = PlaneProducts;
  static constexpr unsigned stages = Stages;
  static constexpr unsigned stage_bytes = StageBytes;
  static constexpr unsigned segment_tiles = segment_depth / span_elements;
  // Blocks of a segment are one chain of sums. One of 256 is a tile: its term can be added later.
  static constexpr unsigned one_piece_tiles = Blocks == 1 ? 1 : segment_tiles;
  static constexpr unsigned tiled_stages = plane_tiled_stages;
  static constexpr unsigned x_bytes = plane_x_bytes;

  static INGOT_ON_DEVICE unsigned tiles(const DeviceProduct& product) { return product.depth / span_elements; }

  // Sixteen rows of planes lie in one piece.
  static INGOT_ON_DEVICE void prefetch(const PlaneProducts& parameters, const StreamPlace& place, unsigned warp) {
    const StreamedParts& joined = parameters.joined;
    const std::int64_t of_rows = warp_columns * joined.parts[place.part].row_bytes;
    const unsigned bytes =
        of_rows < std::int64_t{joined.prefetched_bytes} ? static_cast<unsigned>(of_rows) : joined.prefetched_bytes;
    const unsigned share = (bytes / joined.warps + 127) / 128 * 128;
    const unsigned first = warp * share;
    if (lane_index() == 0 && first < bytes) {
      prefetch_bytes(place.weights + first, bytes - first < share ? bytes - first : share);
    }
  }

  struct Source {
    const std::byte* from;  // a lane's first unit
    DType type;
  };
  static INGOT_ON_DEVICE Source source(const PlaneProducts&, const StreamPlace& place) {
    return {place.weights + lane_index() * 16, place.type};
  }
  static INGOT_ON_DEVICE void copy_tile(const Source& source, unsigned tile, std::byte* to) {
    WithBlock{}(source.type, [&]<class Block>() {
      static_assert(sizeof(PlaneTile<Block>) <= StageBytes);
      constexpr unsigned units = sizeof(PlaneTile<Block>) / 16;
      const std::byte* const from = source.from + tile * std::uint64_t{sizeof(PlaneTile<Block>)};
      std::byte* const place = to + lane_index() * 16;
      INGOT_UNROLL
      for (unsigned first = 0; first < units; first += warp_size) {
        if (first + warp_size <= units || first + lane_index() < units) {
          copy_async16(place + first * 16, from + first * 16);
        }
      }
    });
  }

  struct X {
    SpanOfX codes;
    XScales<Blocks> scales;
  };
  static INGOT_ON_DEVICE X load_x(const PlaneProducts& parameters, const StreamPlace& place, unsigned tile) {
    return {load_span_of_x(parameters, place.tokens, tile), load_x_scales<Blocks>(parameters, place.tokens, 0, tile)};
  }

  static INGOT_ON_DEVICE float prepare_x(const PlaneProducts& parameters, std::byte* to) {
    prepare_codes<Blocks>(parameters, OneCodes<Blocks>(to, parameters.joined.parts[0].depth));
    return 1;
  }
  static INGOT_ON_DEVICE X load_prepared(const PlaneProducts& parameters, const std::byte* x, unsigned tile) {
    const OneCodes<Blocks> codes(const_cast<std::byte*>(x), parameters.joined.parts[0].depth);
    return {codes.span(tile), codes.scales_of(tile)};
  }

  template <bool One>
  static INGOT_ON_DEVICE void add_tile(const StreamPlace& place, const std::byte* from, const X& x, FloatSums& sums) {
    WithBlock{}(place.type, [&]<class Block>() {
      PlaneUnits<Block> weights;
      weights.load(*reinterpret_cast<const PlaneTile<Block>*>(from));
      if constexpr (One && Blocks == 1) {
        add_tile_sums<One>(x.codes, {{{1}, {1}}}, weights, sums);
      } else {
        add_tile_sums<One>(x.codes, x.scales, weights, sums);
      }
    });
  }
  static INGOT_ON_DEVICE float weight(const X& x) { return x.scales.values[0][0]; }

  // Tokens that are not there are zeros, and not read.
  static INGOT_ON_DEVICE void copy_x(const PlaneProducts& parameters, const TokenTile& tokens, unsigned tile,
                                     std::byte* to) {
    constexpr unsigned units = span_elements / 16;
    for (unsigned at = thread_index(); at < many_tiles * tile_tokens * units; at += tiled_warps * warp_size) {
      const unsigned token = at / units, unit = at % units;
      const bool is_there = token < tokens.count;
      const std::int8_t* const row =
          parameters.codes + (tokens.first + (is_there ? token : 0)) * parameters.codes_stride;
      copy_async16(to + place_of_codes(token, unit), row + tile * span_elements + unit * 16, is_there ? 16 : 0);
    }
  }

  static INGOT_ON_DEVICE void add_tiles(const PlaneProducts& parameters, const StreamPlace& place, unsigned tile,
                                        const std::byte* x, const std::byte* from, FloatSums (&sums)[many_tiles]) {
    WithBlock{}(place.type, [&]<class Block>() {
      PlaneUnits<Block> weights;
      weights.load(*reinterpret_cast<const PlaneTile<Block>*>(from));
      INGOT_UNROLL
      for (unsigned i = 0; i < many_tiles; ++i) {
        if (i * tile_tokens >= place.tokens.count) break;
        add_tile_sums<false>(load_shared_span(x, i * tile_tokens),
                             load_x_scales<Blocks>(parameters, place.tokens, i * tile_tokens, tile), weights, sums[i]);
      }
    });
  }

  static INGOT_ON_DEVICE float finished(const PlaneProducts&, unsigned, float sum) { return sum; }
};

}  // namespace ingot::device
