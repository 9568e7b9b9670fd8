// What launches of the device functions of attention are told: over a cache (attention.decode, attention.prefill) and
// over whole sequences (attention.sdpa, attention.streaming), which are pages of one sequence each.
#pragma once

#include <cstddef>

#include "kernels/device/view.h"
#include "tensor/dtype.h"

namespace ingot {

// Keys are looked at in splits of so many positions, counted from position 0: what a token becomes depends neither on
// the tokens beside it nor on how its prompt was cut.
inline constexpr std::uint32_t split_keys_shift = 8;
inline constexpr std::uint32_t split_keys = 1u << split_keys_shift;
// A token that sees more than so many splits has longer ones, so that what is kept of them stays small: as many as give
// a block or two to each multiprocessor of a large device, by the heads that have blocks of their own.
constexpr std::uint32_t full_splits_shift(std::int64_t key_heads) {
  std::uint32_t shift = 6;
  while (shift > 3 && key_heads << shift > 256) --shift;
  return shift;
}

// Pages of keys or of values.
struct DevicePages {
  const std::byte* data;
  std::int64_t page_stride, head_stride, token_stride;  // in bytes
  std::uint32_t width;                                  // numbers of a row
  DType dtype;
  bool is_aligned;    // rows of f32 or f16 at multiples of 16 or 8 bytes, and whole groups of four
  bool is_aligned16;  // rows of f16, or several rows of q8_0 that lie one behind the other, in whole pieces of 16 bytes

  INGOT_ON_DEVICE const std::byte* row(std::int64_t page, std::uint32_t head, std::uint32_t token) const {
    return data + page * page_stride + head * head_stride + token * token_stride;
  }
};

// How many splits a token sees at most, as powers of two: of any length, and of the shortest.
struct MostSplits {
  std::uint32_t shift;
  std::uint32_t shortest_shift;
};

// Positions from begin to end.
struct DeviceKeys {
  std::int32_t begin;
  std::int32_t end;

  // How long splits are of a token that sees them, as a power of two: twice as long until it sees no more than there
  // may be of that length.
  INGOT_ON_DEVICE std::uint32_t split_length_shift(MostSplits most) const {
    std::uint32_t length = split_keys_shift;
    if ((end - begin - 1) >> most.shortest_shift >> length > 0) ++length;
    while ((end - begin - 1) >> most.shift >> length > 0) ++length;
    return length;
  }
};

struct AttendedRows {
  DeviceTensor<const float> q;  // [batch, head, token, dimension]; over a cache all tokens are of one batch
  DeviceTensor<float> y;
  DeviceTensor<float> log_sum_exp;  // [batch, head, token]; without data: nobody asked for it
  DevicePages keys, values;
  DeviceTensor<const std::int32_t> block_table;  // without data: sequence s is page s
  DeviceTensor<const std::int32_t> lengths;      // without data: there is no cache, and sequences are batches
  DeviceTensor<const std::int32_t> run_begins;   // without data: token t is the last of sequence t
  DeviceTensor<const float> mask;                // [batch, head, token, key]; without data: none
  DeviceTensor<const float> alibi_slopes;        // without data: none
  DeviceTensor<const float> sinks;               // likewise
  float* partials;                               // null: a block joins the splits of its rows itself
  std::uint32_t splits;                          // partials of a head of a token: as many splits as it may see at most
  bool has_whole_units;    // units of keys lie in one piece, rows are as wide as tiles, and there are no rules
  bool by_matrix_units;    // scores are exponents of 2, and splits as long as DeviceKeys says
  MostSplits most_splits;  // from which on they are longer
  std::uint32_t sequences;
  std::uint32_t key_heads;
  std::uint32_t head_group;
  std::uint32_t page_length;
  std::uint32_t page_shift;   // the power of two that it is, or 32
  std::uint32_t wraps_at;     // a ring's capacity, or 2^31, which no position reaches
  std::int64_t reach;         // positions that a token sees up to its own, at most
  std::int64_t reach_ahead;   // and behind it
  std::int64_t key_count;     // positions that there are; over a cache 2^31, for lengths say it
  std::int64_t query_offset;  // the position of a batch's first token
  float scale;
  float softcap;  // 0: none

  // A partial: the weighted values of a split, then the score that was taken out of its weights, and their sum. Where
  // matrix units are used, a token that sees one split has none.
  INGOT_ON_DEVICE float* partial(std::uint32_t token, std::uint32_t head, std::uint32_t split) const {
    const std::uint64_t index = (std::uint64_t{token} * q.sizes[1] + head) * splits + split;
    return partials + index * (values.width + 2);
  }
  // The positions that a token at a position sees.
  INGOT_ON_DEVICE DeviceKeys seen_from(std::int64_t position) const {
    std::int64_t begin = position + 1 - reach;
    std::int64_t end = position + 1 + reach_ahead;
    if (end > key_count) end = key_count;
    if (end < 0) end = 0;
    if (begin < 0) begin = 0;
    if (begin > end) begin = end;
    return {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
  }
};

}  // namespace ingot
