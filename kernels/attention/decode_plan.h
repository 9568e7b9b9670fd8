// How attention over single new tokens is cut, and where its parts lie in scratch memory. All from the shape alone, so
// that results do not depend on the number of threads.
#pragma once

#include "kernels/attention/decode.h"
#include "kernels/attention/tiles.h"
#include "tensor/block_formats.h"

namespace ingot {

// Tokens whose scores are looked at together: keys and values of 128 f16 dimensions are 32 KiB, so that what the
// second product prefetches meets the first-level cache.
inline constexpr std::int64_t token_tile = 64;
inline constexpr std::int64_t least_split = 512;  // tokens: below, a thread is not worth waking
inline constexpr std::int64_t enough_units = 64;  // of work, for as many threads

struct DecodePlan {
  std::int64_t group;
  std::int64_t padded_group;  // heads are multiplied by fours, twos and ones: three of them as four
  std::int64_t width;
  std::int64_t value_width;
  std::int64_t splits;
  std::int64_t units;
  std::int64_t partial_floats;
  std::int64_t worker_floats;

  explicit DecodePlan(const Decode::Arguments& a)
      : group(a.group()),
        padded_group(group % 4 == 3 ? group + 1 : group),
        width(padded_width(a.q.size(2))),
        value_width(padded_width(a.value_dimensions())) {
    const std::int64_t pairs = a.batches() * a.key_heads();
    splits =
        std::clamp<std::int64_t>(a.keys().capacity() / least_split, 1, std::max<std::int64_t>(enough_units / pairs, 1));
    units = pairs * splits;
    partial_floats = padded_group * value_width + 2 * group;
    worker_floats = (padded_group + token_tile) * width + token_tile * value_width + padded_group * token_tile;
  }
};

// A worker's scratch memory.
struct DecodeMemory {
  float* queries;  // [padded_group][width]
  float* keys;     // decoded rows [token_tile][width], or scales of coded ones
  float* values;   // [token_tile][value_width], likewise
  float* scores;   // [padded_group][token_tile]

  DecodeMemory(float* start, const DecodePlan& plan)
      : queries(start),
        keys(queries + plan.padded_group * plan.width),
        values(keys + token_tile * plan.width),
        scores(values + token_tile * plan.value_width) {}
};

// A split's result for a group of heads: outputs [padded_group][value_width], then a maximum and a sum for each head.
struct Partial {
  float* outputs;
  float* maximum;
  float* sum;

  Partial(float* partials, const DecodePlan& plan, std::int64_t unit)
      : outputs(partials + unit * plan.partial_floats),
        maximum(outputs + plan.padded_group * plan.value_width),
        sum(maximum + plan.group) {}
};

}  // namespace ingot
