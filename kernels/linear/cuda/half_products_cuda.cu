// Products with weights of 16 bits, by matrix instructions for any number of tokens, so that bits do not depend on it.
//
// A lane takes 8 neighbours of a row at once, 32 of the depth with the other three of its group: the first four go into
// one instruction, the last four into the next, from both factors alike. Tiles of a chunk come by way of shared memory;
// weights whose rows do not begin at multiples of 16 bytes are read from where they lie.
#include "kernels/linear/cuda/half_products_cuda.h"

#include <type_traits>

#include "kernels/linear/cuda/rounded_row.h"
#include "kernels/linear/cuda/tiled.h"

// Budget of multiply_many_f16, multiply_many_bf16, multiply_anywhere_f16, multiply_anywhere_bf16: 128 registers.
// Weights of a chunk for two rows, 32, and sums and totals of eight tiles, 64.
namespace ingot::device {
namespace {

constexpr unsigned lane_elements = 8;
constexpr unsigned step_depth = 32;
constexpr unsigned steps = half_chunk / step_depth;

INGOT_ON_DEVICE Words16 load_weights(const std::byte* row, unsigned at, unsigned depth) {
  Words16 words = {{0, 0, 0, 0}};
  if (row == nullptr) return words;
  const auto* const elements = reinterpret_cast<const std::uint16_t*>(row);
  INGOT_UNROLL
  for (unsigned i = 0; i < lane_elements; ++i) {
    if (at + i < depth) words.words[i / 2] |= std::uint32_t{elements[at + i]} << (i % 2 * 16);
  }
  return words;
}

INGOT_ON_DEVICE Words16 load_x_unit(const HalfProducts& parameters, const TokenTile& tokens, unsigned tile,
                                    unsigned at) {
  const unsigned token = tile * tile_tokens + lane_index() / 4;
  if (token >= tokens.count) return {{0, 0, 0, 0}};
  return load16(parameters.x + (tokens.first + token) * std::uint64_t{parameters.x_stride} + at);
}

// A lane's place in step `step` of a chunk.
INGOT_ON_DEVICE unsigned lane_place(unsigned step) { return step * step_depth + lane_index() % 4 * lane_elements; }

// Of rows g and g + 8, or of token g.
struct WeightChunk {
  Words16 rows[steps][2];
};
struct XChunk {
  Words16 units[steps];
};

// From zero, and then into the sums.
template <class Element>
INGOT_ON_DEVICE void add_products(const WeightChunk& weights, const XChunk& x, FloatSums& sums) {
  FloatSums chunk = {{0, 0, 0, 0}};
  INGOT_UNROLL
  for (unsigned step = 0; step < steps; ++step) {
    const Words16(&rows)[2] = weights.rows[step];
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; i += 2) {
      matrix_multiply_16x8x16<Element>(
          chunk, {{rows[0].words[i], rows[1].words[i], rows[0].words[i + 1], rows[1].words[i + 1]}},
          {{x.units[step].words[i], x.units[step].words[i + 1]}});
    }
  }
  INGOT_UNROLL
  for (unsigned i = 0; i < 4; ++i) sums.values[i] = sums.values[i] + chunk.values[i];
}

INGOT_ON_DEVICE XChunk load_x_chunk(const HalfProducts& parameters, const TokenTile& tokens, unsigned tile,
                                    unsigned begin) {
  XChunk x;
  INGOT_UNROLL
  for (unsigned step = 0; step < steps; ++step) {
    x.units[step] = load_x_unit(parameters, tokens, tile, begin + lane_place(step));
  }
  return x;
}

INGOT_ON_DEVICE float finished_sum(const HalfProducts& parameters, unsigned token, float sum) {
  return parameters.from_halves == nullptr ? sum : sum * parameters.from_halves[token];
}

template <class Element>
struct Halves {
  using Parameters = HalfProducts;

  static INGOT_ON_DEVICE const DeviceProduct& product(const HalfProducts& parameters) {
    return parameters.joined.parts[0];
  }

  template <unsigned Tiles>
  static INGOT_ON_DEVICE void add_segment(const HalfProducts& parameters, const WarpPlace& place, unsigned segment,
                                          FloatSums (&sums)[Tiles]) {
    const unsigned first = segment * segment_depth;
    const unsigned depth = product(parameters).depth;
    const unsigned last = depth - first < segment_depth ? depth : first + segment_depth;
    for (unsigned begin = first; begin < last; begin += half_chunk) {
      WeightChunk weights;
      INGOT_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        INGOT_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          weights.rows[step][half] = load_weights(place.rows[half], begin + lane_place(step), depth);
        }
      }
      INGOT_UNROLL
      for (unsigned tile = 0; tile < Tiles; ++tile) {
        if (tile * tile_tokens >= place.tokens.count) break;
        add_products<Element>(weights, load_x_chunk(parameters, place.tokens, tile, begin), sums[tile]);
      }
    }
  }

  static INGOT_ON_DEVICE float finished(const HalfProducts& parameters, unsigned token, float sum) {
    return finished_sum(parameters, token, sum);
  }
};

// A tile has rows of 128 bytes one after the other, of weights or of tokens. Unit u of row r, 16 bytes, stands in the
// place of unit u ^ (r % 2 * 4 + r / 2 % 4): eight lanes write a whole row, or read four neighbouring units of two, and
// meet every bank once.
constexpr unsigned row_units = half_chunk * 2 / 16;
INGOT_ON_DEVICE unsigned place_of(unsigned row, unsigned unit) {
  return (row * row_units + (unit ^ (row % 2 * 4 + row / 2 % 4))) * 16;
}
INGOT_ON_DEVICE Words16 load_unit_of(const std::byte* tile, unsigned row, unsigned step) {
  return load16(tile + place_of(row, lane_place(step) / lane_elements));
}

template <class Element>
struct HalfWay {
  using Parameters = HalfProducts;
  static constexpr unsigned stages = half_stages;
  static constexpr unsigned stage_bytes = half_tile_bytes;
  static constexpr unsigned segment_tiles = segment_depth / half_chunk;
  static constexpr unsigned one_piece_tiles = 1;
  static constexpr unsigned tiled_stages = half_tiled_stages;
  static constexpr unsigned x_bytes = half_x_bytes;

  static INGOT_ON_DEVICE unsigned tiles(const DeviceProduct& product) {
    return (product.depth + half_chunk - 1) / half_chunk;
  }

  // A lane for a row: the warp's share of what the rows begin with.
  static INGOT_ON_DEVICE void prefetch(const HalfProducts& parameters, const StreamPlace& place, unsigned warp) {
    const StreamedParts& joined = parameters.joined;
    const DeviceProduct& product = joined.parts[place.part];
    const unsigned most = joined.prefetched_bytes / warp_columns;
    const unsigned whole = product.depth / lane_elements * 16;
    const unsigned bytes = whole < most ? whole : most;
    const unsigned share = (bytes / joined.warps + 127) / 128 * 128;
    const unsigned first = warp * share;
    if (lane_index() < place.columns && first < bytes) {
      prefetch_bytes(place.weights + lane_index() * product.row_bytes + first,
                     bytes - first < share ? bytes - first : share);
    }
  }

  // A lane copies the same unit of every fourth row.
  struct Source {
    const std::byte* weights;
    const std::byte* from;  // of the first tile and the lane's first row
    std::int64_t step;      // four rows
    unsigned place, next;   // of its first row and its second, in a tile
    unsigned columns;
    unsigned depth;
    bool is_whole;  // all rows are there, and whole tiles of them
  };
  static INGOT_ON_DEVICE Source source(const HalfProducts& parameters, const StreamPlace& place) {
    const DeviceProduct& product = parameters.joined.parts[place.part];
    const unsigned unit = lane_index() % row_units;
    const unsigned row = lane_index() / row_units;
    return {place.weights,
            place.weights + row * product.row_bytes + unit * 16,
            std::int64_t{rows_together} * product.row_bytes,
            place_of(row, unit),
            place_of(row + rows_together, unit),
            place.columns,
            product.depth,
            place.columns == warp_columns && product.depth % half_chunk == 0};
  }
  static INGOT_ON_DEVICE void copy_tile(const Source& source, unsigned tile, std::byte* to) {
    const std::byte* const from = source.from + tile * (half_chunk * 2);
    if (!source.is_whole) return copy_edge(source, from, tile, to);
    INGOT_UNROLL
    for (unsigned i = 0; i < warp_columns / rows_together; ++i) {
      copy_async16(to + place_of_row(source, i), from + i * source.step);
    }
  }

  static INGOT_ON_DEVICE WeightChunk weights_of(const std::byte* from) {
    WeightChunk weights;
    INGOT_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      INGOT_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        weights.rows[step][half] = load_unit_of(from, lane_index() / 4 + 8 * half, step);
      }
    }
    return weights;
  }

  using X = XChunk;
  static INGOT_ON_DEVICE X load_x(const HalfProducts& parameters, const StreamPlace& place, unsigned tile) {
    return load_x_chunk(parameters, place.tokens, 0, tile * half_chunk);
  }

  static INGOT_ON_DEVICE float prepare_x(const HalfProducts& parameters, std::byte* to) {
    const FloatRow row = {parameters.floats, parameters.joined.parts[0].depth, parameters.is_aligned};
    return std::is_same_v<Element, Half> ? row.round_to_halves(to) : row.round_to_bfloat16s(to);
  }
  // All columns of the second factor are this token's: only the first one's sums are looked at.
  static INGOT_ON_DEVICE X load_prepared(const HalfProducts&, const std::byte* x, unsigned tile) {
    XChunk chunk;
    INGOT_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      chunk.units[step] = load16(x + (tile * half_chunk + lane_place(step)) * sizeof(std::uint16_t));
    }
    return chunk;
  }

  template <bool One>
  static INGOT_ON_DEVICE void add_tile(const StreamPlace&, const std::byte* from, const XChunk& x, FloatSums& sums) {
    add_products<Element>(weights_of(from), x, sums);
  }

  static INGOT_ON_DEVICE float weight(const XChunk&) { return 1; }

  // Rows of x are whole chunks long.
  static INGOT_ON_DEVICE void copy_x(const HalfProducts& parameters, const TokenTile& tokens, unsigned tile,
                                     std::byte* to) {
    for (unsigned at = thread_index(); at < many_tiles * tile_tokens * row_units; at += tiled_warps * warp_size) {
      const unsigned token = at / row_units, unit = at % row_units;
      const bool is_there = token < tokens.count;
      const std::uint64_t row = tokens.first + (is_there ? token : 0);
      copy_async16(to + place_of(token, unit),
                   parameters.x + row * parameters.x_stride + tile * half_chunk + unit * lane_elements,
                   is_there ? 16 : 0);
    }
  }

  static INGOT_ON_DEVICE void add_tiles(const HalfProducts&, const StreamPlace& place, unsigned, const std::byte* x,
                                        const std::byte* from, FloatSums (&sums)[many_tiles]) {
    const WeightChunk weights = weights_of(from);
    INGOT_UNROLL
    for (unsigned tile = 0; tile < many_tiles; ++tile) {
      if (tile * tile_tokens >= place.tokens.count) break;
      XChunk tokens;
      INGOT_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        tokens.units[step] = load_unit_of(x, tile * tile_tokens + lane_index() / 4, step);
      }
      add_products<Element>(weights, tokens, sums[tile]);
    }
  }

  static INGOT_ON_DEVICE float finished(const HalfProducts& parameters, unsigned token, float sum) {
    return finished_sum(parameters, token, sum);
  }

 private:
  static constexpr unsigned rows_together = warp_size / row_units;

  // Of the lane's row `i`: every other one is laid alike.
  static INGOT_ON_DEVICE unsigned place_of_row(const Source& source, unsigned i) {
    return (i % 2 == 0 ? source.place : source.next) + i / 2 * (2 * rows_together * half_chunk * 2);
  }

  // What is beyond the last row or the depth is zeros, and not read.
  static INGOT_ON_DEVICE void copy_edge(const Source& source, const std::byte* from, unsigned tile, std::byte* to) {
    const unsigned at = tile * half_chunk + lane_index() % row_units * lane_elements;
    const unsigned left = at < source.depth ? 2 * (source.depth - at) : 0;
    INGOT_ROLLED
    for (unsigned i = 0; i < warp_columns / rows_together; ++i) {
      const bool is_there = i * rows_together + lane_index() / row_units < source.columns && left > 0;
      std::byte* const place = to + place_of_row(source, i);
      copy_async16(place, is_there ? from + i * source.step : source.weights, !is_there ? 0 : left < 16 ? left : 16);
    }
  }
};

}  // namespace

INGOT_DEVICE_FUNCTION_AFTER(multiply_one_f16, HalfProducts, 512, prefetch_streamed<HalfWay<Half>>) {
  multiply_streamed<HalfWay<Half>, true>(parameters);
}
INGOT_DEVICE_FUNCTION_AFTER(multiply_few_f16, HalfProducts, 512, prefetch_streamed<HalfWay<Half>>) {
  multiply_streamed<HalfWay<Half>, false>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_many_f16, HalfProducts, 256) { multiply_tiled<HalfWay<Half>>(parameters); }
INGOT_DEVICE_FUNCTION(multiply_anywhere_f16, HalfProducts, 256) { multiply_many<Halves<Half>>(parameters); }
INGOT_DEVICE_FUNCTION_AFTER(multiply_one_bf16, HalfProducts, 512, prefetch_streamed<HalfWay<BFloat16>>) {
  multiply_streamed<HalfWay<BFloat16>, true>(parameters);
}
INGOT_DEVICE_FUNCTION_AFTER(multiply_few_bf16, HalfProducts, 512, prefetch_streamed<HalfWay<BFloat16>>) {
  multiply_streamed<HalfWay<BFloat16>, false>(parameters);
}
INGOT_DEVICE_FUNCTION(multiply_many_bf16, HalfProducts, 256) { multiply_tiled<HalfWay<BFloat16>>(parameters); }
INGOT_DEVICE_FUNCTION(multiply_anywhere_bf16, HalfProducts, 256) { multiply_many<Halves<BFloat16>>(parameters); }

}  // namespace ingot::device
