// How attention over single new tokens is cut, and where its parts lie in scratch memory. All from the shape alone, so
// that results do not depend on the number of threads; and how one sequence is cut does not depend on how many there
// are, so that neighbours never show.
#pragma once

#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/token_rows.h"
#include "kernels/attention/tiles.h"
#include "tensor/block_formats.h"

namespace ingot {

inline constexpr std::int64_t least_split = 512;  // tokens: below, a thread is not worth waking
inline constexpr std::int64_t least_share_tiles = 4;

inline constexpr std::int64_t quad = 4;  // heads that are multiplied together where a vector holds as many

struct DecodePlan {
  std::int64_t head_group;
  std::int64_t padded_head_group;  // heads are multiplied by fours, twos and ones: three of them as four
  std::int64_t room;               // for heads, where all are multiplied by fours
  std::int64_t width;
  std::int64_t value_width;
  std::int64_t splits;
  std::int64_t pairs;  // of a sequence and a head of keys
  // A task is a pair with all of its splits, where that makes tasks enough; else a split of a pair.
  bool has_pairs_enough;
  std::int64_t partial_floats;
  std::int64_t worker_floats;

  explicit DecodePlan(const Decode::Arguments& a)
      : head_group(a.head_group()),
        padded_head_group(head_group % 4 == 3 ? head_group + 1 : head_group),
        room(divide_rounding_up(head_group, 4) * 4),
        width(padded_width(a.q.size(2))),
        value_width(padded_width(a.value_dimensions())) {
    pairs = a.sequences() * a.key_heads();
    has_pairs_enough = pairs >= enough_tasks;
    splits = std::clamp<std::int64_t>(a.keys().capacity() / least_split, 1,
                                      std::max<std::int64_t>(enough_tasks / a.key_heads(), 1));
    partial_floats = room * value_width + 2 * room;
    worker_floats = (room + token_tile) * width + token_tile * value_width + room * token_tile;
  }

  // Partial results that are kept at a time: those of a worker's pair, or of all pairs.
  std::int64_t partials(int threads) const { return (has_pairs_enough ? threads : pairs) * splits; }

  // Splits that hold any of so many tokens, and tokens of each but the last: equal shares in whole tiles, as many as
  // are worth a start of their own.
  struct Shares {
    std::int64_t count;
    std::int64_t tokens;
  };
  Shares shares_of(std::int64_t tokens) const {
    const std::int64_t share =
        std::max(divide_rounding_up(divide_rounding_up(tokens, token_tile), splits), least_share_tiles) * token_tile;
    return {divide_rounding_up(tokens, share), share};
  }
};

// A worker's scratch memory.
struct DecodeMemory {
  float* queries;  // [room][width]
  float* keys;     // decoded rows [token_tile][width], or scales of coded ones
  float* values;   // [token_tile][value_width], likewise
  float* scores;   // [room][token_tile]

  DecodeMemory(float* start, const DecodePlan& plan)
      : queries(start),
        keys(queries + plan.room * plan.width),
        values(keys + token_tile * plan.width),
        scores(values + token_tile * plan.value_width) {}
};

// Rows that will be read after these: those of the tile that is multiplied next, and of the one behind it.
struct ComingRows {
  const TokenRows& near;
  const TokenRows& far;
};

// scores = queries times keys, and outputs += weights times values, for the heads of a group. `next` are rows that will
// be read after these: memory may be asked for them meanwhile.
using DotTokens = void(const float* queries, std::int64_t heads, std::int64_t width, const TokenRows& keys,
                       const ComingRows& next, float* scores);
using MixTokens = void(const float* weights, std::int64_t heads, const TokenRows& values, const ComingRows& next,
                       float* outputs, std::int64_t width);

// A split's result for a group of heads: outputs [room][value_width], then a maximum and a sum for each head.
struct Partial {
  float* outputs;
  float* maximum;
  float* sum;

  Partial(float* partials, const DecodePlan& plan, std::int64_t index)
      : outputs(partials + index * plan.partial_floats),
        maximum(outputs + plan.room * plan.value_width),
        sum(maximum + plan.room) {}
};

}  // namespace ingot
