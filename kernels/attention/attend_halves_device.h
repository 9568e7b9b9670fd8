// Units of pages of halves. Queries meet them as halves, as the contract has it: their products are exact, and only
// sums round. Weights are two halves each.
#pragma once

#include "kernels/attention/attend_unit_device.h"
#include "kernels/device/half_scale.h"

namespace ingot::device {

// Heads of up to Width dimensions; what is beyond theirs is zero.
template <unsigned Width>
struct HalfUnit {
  static constexpr unsigned width = Width;
  static constexpr unsigned row_bytes = 2 * Width;
  static constexpr unsigned tile_bytes = unit_keys * row_bytes;
  static constexpr unsigned pieces = Width / 8;  // of 16 bytes, a row

  // Where a piece of a key's row lies in a tile: the same piece of eight keys, read at once, is in other banks each.
  static INGOT_ON_DEVICE unsigned place(unsigned key, unsigned piece) {
    return key * row_bytes + 16 * (piece ^ key % 8);
  }

  // A lane's row and where its pieces of even numbers lie, or those behind them: `turned` is what the row's number and
  // that of the piece have in common. Four addresses, and what is added to them is known before.
  struct TilePieces {
    const std::byte* pieces[4];
    INGOT_ON_DEVICE TilePieces(const std::byte* row, unsigned turned) {
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) pieces[i] = row + 16 * (turned ^ 2 * i);
    }
    INGOT_ON_DEVICE const std::byte* at(unsigned piece) const { return pieces[piece / 2 % 4] + piece / 8 * 128; }
  };

  using MixedFew = MixedBlock;                                  // of up to eight rows
  static constexpr unsigned rounds = 1;                         // of which results of up to eight rows are kept
  static constexpr unsigned token_warps = Width == 64 ? 8 : 4;  // of a block that has a single token
  static constexpr unsigned notes_bytes = 0;                    // what a warp writes down of a unit

  struct Queries {
    MatrixA parts[Width / 16];
    float from_halves[2];
  };

  static INGOT_ON_DEVICE void load_queries(const AttendedRows& parameters, const TileRows& rows, unsigned first_row,
                                           bool has_second, unsigned width, Queries& queries) {
    INGOT_UNROLL
    for (unsigned second = 0; second < 2; ++second) {
      if (second == 1 && !has_second) {
        queries.from_halves[1] = 0;
        INGOT_UNROLL
        for (MatrixA& part : queries.parts) {
          part.words[1] = 0;
          part.words[3] = 0;
        }
        break;
      }
      const unsigned row = first_row + lane_index() / 4 + 8 * second;
      const float* const query = query_of(parameters, rows, row);
      float values[Width / 16][4];
      std::uint32_t largest = 0;
      INGOT_UNROLL
      for (unsigned part = 0; part < Width / 16; ++part) {
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned dimension = 16 * part + lane_index() % 4 * 2 + i % 2 + i / 2 * 8;
          const float value = query != nullptr && dimension < width ? query[dimension] : 0;
          values[part][i] = value;
          if (is_finite(value)) largest = Greatest{}(largest, bits_of(value) & 0x7fffffffu);
        }
      }
      largest = Greatest{}(largest, shuffle_xor(largest, 1));
      largest = Greatest{}(largest, shuffle_xor(largest, 2));
      const HalfScale scale = half_scale(largest);
      queries.from_halves[second] = scale.from_halves;
      INGOT_UNROLL
      for (unsigned part = 0; part < Width / 16; ++part) {
        INGOT_UNROLL
        for (unsigned pair = 0; pair < 2; ++pair) {
          queries.parts[part].words[2 * pair + second] =
              pack_halves(values[part][2 * pair] * scale.to_halves, values[part][2 * pair + 1] * scale.to_halves);
        }
      }
    }
  }

  // Begins to fetch keys or values that lie one behind the other, from a multiple of eight of a unit on.
  template <unsigned Keys>
  static INGOT_ON_DEVICE void fetch_whole(const std::byte* from, std::byte* tile) {
    constexpr unsigned keys_at_once = warp_size / pieces;
    const unsigned first_key = lane_index() / pieces;
    const unsigned piece = lane_index() % pieces;
    const std::byte* const first = from + first_key * row_bytes + 16 * piece;
    std::byte* to[4];  // for keys that follow by 0, 2, 4 and 6, and then again
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) to[i] = tile + first_key * row_bytes + 16 * (piece ^ first_key ^ 2 * i);
    INGOT_UNROLL
    for (unsigned key = 0; key < Keys; key += keys_at_once) {
      copy_async16(to[key / 2 % 4] + key * row_bytes, first + key * row_bytes);
    }
  }

  // Begins to fetch keys or values `first` to `last` of a unit; each lane names the row of its own.
  static INGOT_ON_DEVICE void fetch(const AttendedRows& parameters, const DevicePages& pages, const std::byte* lane_row,
                                    unsigned first, unsigned last, std::byte* tile) {
    constexpr unsigned keys_at_once = warp_size / pieces;
    const unsigned piece = lane_index() % pieces;
    const unsigned first_key = first + lane_index() / pieces;
    if (pages.is_aligned16) {
      const bool is_there = 8 * piece < pages.width;
      const std::byte* const begin = piece_of(parameters, lane_row);
      if (begin != nullptr) {
        const std::byte* from = begin + first_key * pages.token_stride + 16 * piece;
        const std::int64_t step = keys_at_once * pages.token_stride;
        INGOT_UNROLL
        for (unsigned key = first_key; key < last; key += keys_at_once, from += step) {
          copy_async16(tile + place(key, piece), is_there ? from : pages.data, is_there ? 16 : 0);
        }
        return;
      }
      INGOT_ROLLED
      for (unsigned key = first_key; key < last; key += keys_at_once) {
        const std::byte* const row = row_of_lane(lane_row, key);
        const bool is_seen = is_there && row != nullptr;
        copy_async16(tile + place(key, piece), is_seen ? row + 16 * piece : pages.data, is_seen ? 16 : 0);
      }
      return;
    }
    INGOT_ROLLED
    for (unsigned key = first_key; key < last; key += keys_at_once) {
      const std::byte* const row = row_of_lane(lane_row, key);
      auto* const to = reinterpret_cast<Half*>(tile + place(key, piece));
      INGOT_ROLLED
      for (unsigned j = 0; j < 8; ++j) {
        const bool is_there = row != nullptr && 8 * piece + j < pages.width;
        to[j] = is_there ? reinterpret_cast<const Half*>(row)[8 * piece + j] : half_of_bits(0);
      }
    }
  }

  // What is not seen by a row weighs nothing, but nothing times infinity is no number: values that are none become
  // zeros, those that this lane fetched, and who sees them adds them to what comes out.
  static INGOT_ON_DEVICE void take_specials(unsigned first, unsigned last, std::byte* tile) {
    INGOT_ROLLED
    for (unsigned i = first * pieces + lane_index(); i < last * pieces; i += warp_size) {
      auto* const halves = reinterpret_cast<Half*>(tile + place(i / pieces, i % pieces));
      INGOT_ROLLED
      for (unsigned j = 0; j < 8; ++j) {
        if (!is_finite(to_float(halves[j]))) halves[j] = half_of_bits(0);
      }
    }
  }
  // 0 where a value is a number.
  static INGOT_ON_DEVICE float special_at(const std::byte* row, unsigned dimension) {
    const float value = to_float(reinterpret_cast<const Half*>(row)[dimension]);
    return is_finite(value) ? 0 : value;
  }

  static INGOT_ON_DEVICE void score(const Queries& queries, unsigned, const std::byte* tile, std::byte*,
                                    UnitWeights& products) {
    const unsigned lane = lane_index();
    const TilePieces keys_of_lane(tile + (lane / 16 * 8 + lane % 8) * row_bytes, lane / 8 % 2 ^ lane % 8);
    INGOT_UNROLL
    for (unsigned pair = 0; pair < unit_tiles; pair += 2) {
      FloatSums sums[2] = {};
      INGOT_UNROLL
      for (unsigned part = 0; part < Width / 16; ++part) {
        const MatrixWords<4> keys = load_matrices<4>(keys_of_lane.at(2 * part) + pair * 8 * row_bytes);
        matrix_multiply_16x8x16<Half>(sums[0], queries.parts[part], {{keys.words[0], keys.words[1]}});
        matrix_multiply_16x8x16<Half>(sums[1], queries.parts[part], {{keys.words[2], keys.words[3]}});
      }
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        products.values[pair][i] = sums[0].values[i] * queries.from_halves[i / 2];
        products.values[pair + 1][i] = sums[1].values[i] * queries.from_halves[i / 2];
      }
    }
  }

  static INGOT_ON_DEVICE unsigned dimension_of(unsigned block, unsigned tile, unsigned column) {
    return block_width * block + 8 * tile + column;
  }

  // What a lane has of rows, of which there are so many: g and g + 8.
  static INGOT_ON_DEVICE void store(const MixedBlock& mixed, unsigned block, unsigned count, float* rows) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = lane_index() / 4 + i / 4 * 8;
      if (row >= count) break;
      const float(&values)[4] = mixed.tiles[i % 4].values;
      store8(rows + row * width + dimension_of(block, i % 4, lane_index() % 4 * 2),
             {{bits_of(values[i / 4 * 2]), bits_of(values[i / 4 * 2 + 1])}});
    }
  }

  // keep(block, mixed) for every 32 dimensions.
  template <class Mixed, class Keep>
  static INGOT_ON_DEVICE void mix(const UnitWeights& weights, bool has_second, unsigned width, const std::byte* tile,
                                  std::byte*, Keep keep) {
    const SplitWeights split(weights.values, has_second);
    const unsigned lane = lane_index();
    const TilePieces values_of_lane(tile + lane % 16 * row_bytes, lane / 16 ^ lane % 8);
    INGOT_UNROLL
    for (unsigned block = 0; block < Width / block_width; ++block) {
      if (block * block_width >= width) break;
      Mixed mixed = {};
      INGOT_UNROLL
      for (unsigned step = 0; step < unit_keys / 16; ++step) {
        INGOT_UNROLL
        for (unsigned pair = 0; pair < 4; pair += 2) {
          const MatrixWords<4> values =
              load_matrices_transposed<4>(values_of_lane.at(block * 4 + pair) + step * 16 * row_bytes);
          INGOT_UNROLL
          for (unsigned i = 0; i < 2; ++i) {
            const MatrixB right = {{values.words[2 * i], values.words[2 * i + 1]}};
            matrix_multiply_16x8x16<Half>(mixed.tiles[pair + i], split.high[step], right);
            matrix_multiply_16x8x16<Half>(mixed.tiles[pair + i], split.low[step], right);
          }
        }
      }
      keep(block, mixed);
    }
  }
};

}  // namespace ingot::device
