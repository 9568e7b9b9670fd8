// Units of pages of q8_0. Queries meet them as codes, block by block: sums of 32 products are exact, and are added in
// float in the order of blocks. A value's scale goes into its weight, which then is two halves; its codes are halves as
// they are.
#pragma once

#include "kernels/attention/attend_unit_device.h"
#include "kernels/device/half_scale.h"
#include "kernels/device/warp_integers.h"
#include "kernels/vector/activation_codes.h"
#include "tensor/block_formats.h"

namespace ingot::device {

// Heads of up to Width dimensions.
template <unsigned Width>
struct CodedUnit {
  static constexpr unsigned width = Width;
  static constexpr unsigned block_bytes = sizeof(BlockQ8_0);
  static constexpr unsigned blocks = Width / block_width;
  static constexpr unsigned row_bytes = blocks * block_bytes;  // as rows of that width lie in pages
  static constexpr unsigned tile_bytes = unit_keys * row_bytes;

  // What a warp writes down of a unit: its keys' scales as floats, block by block, and then those of its values.
  struct Notes {
    float scales[blocks][unit_keys];
  };
  static constexpr unsigned notes_bytes = sizeof(Notes);
  using MixedFew = TurnedBlock;                                 // of up to eight rows
  static constexpr unsigned rounds = 2;                         // of which results of up to eight rows are kept
  static constexpr unsigned token_warps = Width == 64 ? 8 : 4;  // of a block that has a single token

  struct Queries {
    MatrixA codes[blocks];
    float scales[blocks][2];
  };

  // Which code of a block byte i of a lane's first or second word is, in queries and in keys alike: sums of whole
  // numbers have no order. Blocks of odd numbers have their codes in words of shared memory; in others the first two
  // codes and the last two lie in words with scales, and are one word of the last lane.
  static INGOT_ON_DEVICE unsigned code_of(unsigned block, unsigned word, unsigned lane, unsigned i) {
    if (block % 2 != 0) return 16 * word + 4 * lane + i;
    if (word == 1 && lane == 3) return i < 2 ? i : 28 + i;
    return 2 + 16 * word + 4 * lane + i;
  }
  static INGOT_ON_DEVICE MatrixB load_key_codes(const std::byte* row, unsigned block, unsigned lane) {
    const std::byte* const at = row + block * block_bytes;
    if (block % 2 != 0) return {{load_word(at + 2 + 4 * lane), load_word(at + 18 + 4 * lane)}};
    const std::uint32_t second = load_word(at + 20 + 4 * lane);
    return {{load_word(at + 4 + 4 * lane), select_bytes(load_word(at), second, lane == 3 ? 0x5432u : 0x7654u)}};
  }
  static INGOT_ON_DEVICE std::uint32_t load_word(const std::byte* at) { return load_unit<std::uint32_t>(at); }

  static INGOT_ON_DEVICE void load_queries(const AttendedRows& parameters, const TileRows& rows, unsigned first_row,
                                           bool has_second, unsigned width, Queries& queries) {
    INGOT_UNROLL
    for (unsigned second = 0; second < 2; ++second) {
      if (second == 1 && !has_second) {
        INGOT_UNROLL
        for (unsigned block = 0; block < blocks; ++block) {
          queries.scales[block][1] = 0;
          queries.codes[block].words[1] = 0;
          queries.codes[block].words[3] = 0;
        }
        break;
      }
      code_query(query_of(parameters, rows, first_row + lane_index() / 4 + 8 * second), width, second, queries);
    }
  }
  // What a lane has of a block of a query, of which four lanes have eight numbers each; returns the bits of the
  // largest.
  static INGOT_ON_DEVICE std::uint32_t load_query(const float* query, unsigned row_width, unsigned block,
                                                  float (&values)[8]) {
    std::uint32_t largest = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned dimension = block_width * block + code_of(block, i / 4, lane_index() % 4, i % 4);
      values[i] = query != nullptr && dimension < row_width ? query[dimension] : 0;
      largest = Greatest{}(largest, bits_of(values[i]) & 0x7fffffffu);
    }
    largest = Greatest{}(largest, shuffle_xor(largest, 1));
    return Greatest{}(largest, shuffle_xor(largest, 2));
  }
  // As activation_code() has them: the addition rounds, and its last byte is the code.
  static INGOT_ON_DEVICE std::uint32_t codes_of(const float (&values)[8], unsigned word, float inverse) {
    std::uint32_t sums[4];
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) sums[i] = bits_of(values[4 * word + i] * inverse + 0x1.8p23f);
    const std::uint32_t codes =
        select_bytes(select_bytes(sums[0], sums[1], 0x0040u), select_bytes(sums[2], sums[3], 0x0040u), 0x5410u);
    return inverse == 0 ? 0 : codes;
  }
  // What takes divisions each of four lanes does for a block.
  static INGOT_ON_DEVICE void code_query(const float* query, unsigned width, unsigned second, Queries& queries) {
    const unsigned lane = lane_index() % 4;
    float values[blocks][8];
    std::uint32_t largest_of_mine = 0;
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      const std::uint32_t largest = load_query(query, width, block, values[block]);
      if (lane % blocks == block) largest_of_mine = largest;
    }
    const ActivationScale made = activation_scale(largest_of_mine);
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      const unsigned from = lane_index() - lane + block;
      queries.scales[block][second] = shuffle_index(made.scale, from);
      const float inverse = shuffle_index(made.inverse, from);
      INGOT_UNROLL
      for (unsigned word = 0; word < 2; ++word) {
        queries.codes[block].words[2 * word + second] = codes_of(values[block], word, inverse);
      }
    }
  }

  // Up to eight queries that all warps of a block want: each of its first warps codes a block of them for all.
  struct SharedQueries {
    std::uint32_t codes[blocks][2][warp_size];
    float scales[blocks][warp_size];
  };
  static INGOT_ON_DEVICE void share_queries(const AttendedRows& parameters, const TileRows& rows,
                                            SharedQueries& shared) {
    const unsigned block = warp_index();
    if (block >= blocks) return;
    float values[8];
    const ActivationScale made =
        activation_scale(load_query(query_of(parameters, rows, lane_index() / 4), width, block, values));
    INGOT_UNROLL
    for (unsigned word = 0; word < 2; ++word) {
      shared.codes[block][word][lane_index()] = codes_of(values, word, made.inverse);
    }
    shared.scales[block][lane_index()] = made.scale;
  }
  static INGOT_ON_DEVICE void load_shared_queries(const SharedQueries& shared, Queries& queries) {
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      queries.codes[block] = {{shared.codes[block][0][lane_index()], 0, shared.codes[block][1][lane_index()], 0}};
      queries.scales[block][0] = shared.scales[block][lane_index()];
      queries.scales[block][1] = 0;
    }
  }

  // Begins to fetch keys or values that lie one behind the other, from a multiple of eight of a unit on.
  template <unsigned Keys>
  static INGOT_ON_DEVICE void fetch_whole(const std::byte* from, std::byte* tile) {
    INGOT_UNROLL
    for (unsigned at = 0; at < Keys * row_bytes; at += 16 * warp_size) {
      if (at + 16 * lane_index() < Keys * row_bytes)
        copy_async16(tile + at + 16 * lane_index(), from + at + 16 * lane_index());
    }
  }

  // Begins to fetch keys or values `first` to `last` of a unit; each lane names the row of its own.
  static INGOT_ON_DEVICE void fetch(const AttendedRows& parameters, const DevicePages& pages, const std::byte* lane_row,
                                    unsigned first, unsigned last, std::byte* tile) {
    if (pages.is_aligned16 && pages.width == Width) {
      // Rows lie one behind the other, so a unit in one piece is whole pieces of 16 bytes.
      const std::byte* const begin = piece_of(parameters, lane_row);
      if (begin != nullptr) {
        INGOT_UNROLL
        for (unsigned at = first * row_bytes + 16 * lane_index(); at < last * row_bytes; at += 16 * warp_size) {
          copy_async16(tile + at, begin + at);
        }
        return;
      }
      // And so are a few rows, of which one may be seen where the first is not. What nobody sees of them lies there
      // too.
      constexpr unsigned row_pieces = 17;
      constexpr unsigned together = row_pieces * 16 / row_bytes;
      const unsigned pieces = (last - first) / together * row_pieces;
      INGOT_ROLLED
      for (unsigned at = 0; at < pieces; at += warp_size) {
        const unsigned i = at + lane_index();
        const unsigned key = first + i / row_pieces * together;
        const unsigned piece = i % row_pieces;
        std::uintptr_t run = 0;
        for (unsigned j = 0; j < together; ++j) {
          const std::byte* const row = row_of_lane(lane_row, key + j);
          if (run == 0 && row != nullptr) run = reinterpret_cast<std::uintptr_t>(row) - j * row_bytes;
        }
        if (i >= pieces) continue;
        const auto* const from = reinterpret_cast<const std::byte*>(run + 16 * piece);
        copy_async16(tile + key * row_bytes + 16 * piece, run != 0 ? from : pages.data, run != 0 ? 16 : 0);
      }
      return;
    }
    const unsigned bytes = pages.width / block_width * block_bytes;
    INGOT_ROLLED
    for (unsigned key = first; key < last; ++key) {
      const std::byte* const row = row_of_lane(lane_row, key);
      INGOT_ROLLED
      for (unsigned i = lane_index(); i < bytes; i += warp_size) {
        tile[key * row_bytes + i] = row != nullptr ? row[i] : std::byte{0};
      }
    }
  }

  // What is not seen by a row weighs nothing, but nothing times infinity is no number: scales that are none become
  // zeros, and who sees them adds their values to what comes out.
  static INGOT_ON_DEVICE void take_specials(unsigned first, unsigned last, std::byte* tile) {
    INGOT_ROLLED
    for (unsigned i = first * blocks + lane_index(); i < last * blocks; i += warp_size) {
      std::byte* const block = tile + i / blocks * row_bytes + i % blocks * block_bytes;
      if (!is_finite(load_scale(block))) store_unit(block, std::uint16_t{0});
    }
  }
  // 0 where a value is a number.
  static INGOT_ON_DEVICE float special_at(const std::byte* row, unsigned dimension) {
    const std::byte* const block = row + dimension / block_width * block_bytes;
    const float scale = load_scale(block);
    if (is_finite(scale)) return 0;
    const auto code = static_cast<std::int8_t>(block[sizeof(BlockQ8_0::scale) + dimension % block_width]);
    return scale * static_cast<float>(code);
  }

  static INGOT_ON_DEVICE float load_scale(const std::byte* block) {
    return to_float(half_of_bits(load_unit<std::uint16_t>(block)));
  }
  // Those of a lane's own key or value; zeros beyond its width. All are loaded before one is written down: nothing
  // tells the compiler that they lie apart.
  static INGOT_ON_DEVICE void load_scales(const std::byte* tile, unsigned row_width, float (&scales)[blocks]) {
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      const bool is_there = block * block_width < row_width;
      scales[block] = is_there ? load_scale(tile + lane_index() * row_bytes + block * block_bytes) : 0;
    }
  }
  static INGOT_ON_DEVICE void note_scales(const float (&scales)[blocks], float (&notes)[blocks][unit_keys]) {
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) notes[block][lane_index()] = scales[block];
  }
  // Of keys 8 tile + 2 t and the next, which a lane has scores of.
  static INGOT_ON_DEVICE void load_pair(const float* scales, unsigned tile, float (&pair)[2]) {
    const Words8 words = load8(scales + 8 * tile + lane_index() % 4 * 2);
    pair[0] = float_of_bits(words.words[0]);
    pair[1] = float_of_bits(words.words[1]);
  }

  static INGOT_ON_DEVICE void score(const Queries& queries, unsigned row_width, const std::byte* tile,
                                    std::byte* notes_at, UnitWeights& products) {
    Notes& notes = *reinterpret_cast<Notes*>(notes_at);
    float scales_of_key[blocks];
    load_scales(tile, row_width, scales_of_key);
    note_scales(scales_of_key, notes.scales);
    synchronize_warp();
    INGOT_UNROLL
    for (unsigned keys = 0; keys < unit_tiles; ++keys) {
      float sums[4] = {};
      const std::byte* const row = tile + (8 * keys + lane_index() / 4) * row_bytes;
      INGOT_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        if (block * block_width >= row_width) break;
        // 1.5 * 2^23, whose last bits as a float are whole numbers: what is added to them is a float at once.
        constexpr std::int32_t shift = 0x4b400000;
        IntegerSums whole = {{shift, shift, shift, shift}};
        matrix_multiply_16x8x32(whole, queries.codes[block], load_key_codes(row, block, lane_index() % 4));
        float scales[2];
        load_pair(notes.scales[block], keys, scales);
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          const float number = float_of_bits(static_cast<std::uint32_t>(whole.values[i])) - 0x1.8p23f;
          sums[i] = fused_multiply_add(number, queries.scales[block][i / 2] * scales[i % 2], sums[i]);
        }
      }
      INGOT_UNROLL
      for (unsigned i = 0; i < 4; ++i) products.values[keys][i] = sums[i];
    }
  }

  // Four dimensions that follow each other are one of each tile: a lane reads them as a word.
  static INGOT_ON_DEVICE unsigned dimension_of(unsigned block, unsigned tile, unsigned column) {
    return block_width * block + 4 * column + tile;
  }

  // What a lane has of rows, of which there are so many: g and g + 8, or 2 t and the next.
  static INGOT_ON_DEVICE void store(const MixedBlock& mixed, unsigned block, unsigned count, float* rows) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane_index() / 4 + 8 * (i / 2);
      if (row >= count) break;
      Words16 words;
      INGOT_UNROLL
      for (unsigned tile = 0; tile < 4; ++tile) words.words[tile] = bits_of(mixed.tiles[tile].values[i]);
      store16(rows + row * width + dimension_of(block, 0, lane_index() % 4 * 2 + i % 2), words);
    }
  }
  static INGOT_ON_DEVICE void store(const TurnedBlock& mixed, unsigned block, unsigned count, float* rows) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane_index() % 4 * 2 + i;
      if (row >= count) break;
      Words16 words;
      INGOT_UNROLL
      for (unsigned n = 0; n < 4; ++n) words.words[n] = bits_of(mixed.tiles[n / 2].values[n % 2 * 2 + i]);
      store16(rows + row * width + dimension_of(block, 0, lane_index() / 4), words);
    }
  }

  // Codes of four dimensions of a value, their signs turned. Blocks begin at even bytes, odd ones at odd halves of
  // words.
  static INGOT_ON_DEVICE std::uint32_t load_value_codes(const std::byte* block_begin, unsigned block, unsigned group) {
    const std::byte* const at = block_begin + sizeof(BlockQ8_0::scale) + 4 * group;
    if (block % 2 != 0) return load_word(at) ^ 0x80808080u;
    return select_bytes(load_word(at - 2), load_word(at + 2), 0x5432u) ^ 0x80808080u;
  }
  // Right factors of four tiles. 1152 + code is a half whose last bits are the code's, its sign turned.
  static INGOT_ON_DEVICE void halves_of_codes(const std::uint32_t (&codes)[4], MatrixB (&tiles)[4]) {
    INGOT_UNROLL
    for (unsigned word = 0; word < 2; ++word) {
      const std::uint32_t pairs[2] = {select_bytes(codes[2 * word], codes[2 * word + 1], 0x5140u),
                                      select_bytes(codes[2 * word], codes[2 * word + 1], 0x7362u)};
      INGOT_UNROLL
      for (unsigned n = 0; n < 4; ++n) {
        const std::uint32_t shifted = select_bytes(pairs[n / 2], 0x64646464u, n % 2 == 0 ? 0x4140u : 0x4342u);
        tiles[n].words[word] = add_halves(shifted, 0xe480e480u);
      }
    }
  }

  // Writes down the scales of values, and finds the powers of two by which rows g and g + 8 make halves of weights that
  // these went into: from the largest scale of those that a row sees, so that nothing is beyond halves.
  static INGOT_ON_DEVICE void find_factors(const UnitWeights& weights, bool has_second, unsigned width,
                                           const std::byte* tile, Notes& notes, HalfScale (&factors)[2]) {
    float scales[blocks];
    load_scales(tile, width, scales);
    note_scales(scales, notes.scales);
    std::uint32_t largest = 0;
    INGOT_UNROLL
    for (const float scale : scales) {
      if (is_finite(scale)) largest = Greatest{}(largest, bits_of(scale) & 0x7fffffffu);
    }
    std::uint32_t of_rows[2] = {};
    synchronize_warp();
    if (weights.is_whole) {
      of_rows[0] = of_rows[1] = warp_maximum_of_integers(largest);
    } else {
      INGOT_UNROLL
      for (unsigned i = 0; i < 8; ++i) {  // of each key that the lane has scores of
        const std::uint32_t scale = shuffle_index(largest, i / 2 * 8 + lane_index() % 4 * 2 + i % 2);
        INGOT_UNROLL
        for (unsigned second = 0; second < 2; ++second) {
          const bool is_seen = (weights.seen >> (i / 2 * 4 + 2 * second + i % 2) & 1) != 0;
          if (is_seen) of_rows[second] = Greatest{}(of_rows[second], scale);
        }
      }
      INGOT_UNROLL
      for (unsigned second = 0; second < 2; ++second) {
        of_rows[second] = Greatest{}(of_rows[second], shuffle_xor(of_rows[second], 1));
        of_rows[second] = Greatest{}(of_rows[second], shuffle_xor(of_rows[second], 2));
      }
    }
    INGOT_UNROLL
    for (unsigned second = 0; second < 2; ++second) {
      if (second == 1 && !has_second) break;
      factors[second] = half_scale(of_rows[second]);
      factors[second].to_halves *= 0x1p-14f;
      factors[second].from_halves *= 0x1p14f;
    }
  }

  static INGOT_ON_DEVICE void add_values(const SplitWeights& weights, unsigned step, const MatrixB (&values)[4],
                                         MixedBlock& mixed) {
    INGOT_UNROLL
    for (unsigned n = 0; n < 4; ++n) {
      matrix_multiply_16x8x16<Half>(mixed.tiles[n], weights.high[step], values[n]);
      matrix_multiply_16x8x16<Half>(mixed.tiles[n], weights.low[step], values[n]);
    }
  }
  static INGOT_ON_DEVICE void add_values(const SplitWeights& weights, unsigned step, const MatrixB (&values)[4],
                                         TurnedBlock& mixed) {
    INGOT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint32_t(&first)[2] = values[2 * i].words;
      const std::uint32_t(&second)[2] = values[2 * i + 1].words;
      const MatrixA left = {{first[0], second[0], first[1], second[1]}};
      matrix_multiply_16x8x16<Half>(mixed.tiles[i], left, weights.high_of_eight(step));
      matrix_multiply_16x8x16<Half>(mixed.tiles[i], left, weights.low_of_eight(step));
    }
  }

  // keep(block, mixed) for every 32 dimensions. Rows of TurnedBlock see the same keys.
  template <class Mixed, class Keep>
  static INGOT_ON_DEVICE void mix(const UnitWeights& weights, bool has_second, unsigned width, const std::byte* tile,
                                  std::byte* notes_at, Keep keep) {
    Notes& notes = *reinterpret_cast<Notes*>(notes_at);
    const unsigned group = lane_index() / 4;
    const unsigned lane = lane_index() % 4;
    HalfScale factors[2] = {};
    find_factors(weights, has_second, width, tile, notes, factors);
    // Powers of two change no bit of what is left of them as halves.
    float lifted[unit_tiles][4];
    INGOT_UNROLL
    for (unsigned i = 0; i < 4 * unit_tiles; ++i) {
      if (i % 4 < 2 || has_second) lifted[i / 4][i % 4] = weights.values[i / 4][i % 4] * factors[i / 2 % 2].to_halves;
    }
    INGOT_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      if (block * block_width >= width) break;
      const std::byte* const first = tile + 2 * lane * row_bytes + block * block_bytes;
      float scaled[unit_tiles][4];
      INGOT_UNROLL
      for (unsigned keys = 0; keys < unit_tiles; ++keys) {
        float scales[2];
        load_pair(notes.scales[block], keys, scales);
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          if (i < 2 || has_second) scaled[keys][i] = lifted[keys][i] * scales[i % 2];
        }
      }
      const SplitWeights split(scaled, has_second);
      Mixed mixed = {};
      INGOT_UNROLL
      for (unsigned step = 0; step < unit_keys / 16; ++step) {
        std::uint32_t codes[4];  // of keys 2 t, the next, and both 8 further
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          codes[i] = load_value_codes(first + (16 * step + i % 2 + i / 2 * 8) * row_bytes, block, group);
        }
        MatrixB values[4];
        halves_of_codes(codes, values);
        add_values(split, step, values, mixed);
      }
      INGOT_UNROLL
      for (FloatSums& sums : mixed.tiles) {
        INGOT_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned second = std::is_same_v<Mixed, MixedBlock> ? i / 2 : 0;
          sums.values[i] = sums.values[i] * factors[second].from_halves;
        }
      }
      keep(block, mixed);
    }
  }
};

}  // namespace ingot::device
