#include "kernels/attention/softmax/softmax_cuda.h"

#include "kernels/device/row_walk.h"
#include "kernels/device/running_sum.h"

namespace ingot::device {
namespace {

// A row's scores, four at a time: of groups that can be moved at once and that are all seen, which is what most rows
// have; and of whatever else there is. -infinity where there is none to see.
struct PlainScores {
  static constexpr bool is_aligned = true;
  const float* x;
  float scale;
  std::uint32_t length;

  INGOT_ON_DEVICE LoadedGroup load(std::uint32_t at) const {
    LoadedGroup loaded;
    load_group(loaded.values, x, at, length, true);
    return loaded;
  }
  INGOT_ON_DEVICE void take(const LoadedGroup& loaded, float (&scores)[group_floats], std::uint32_t at) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) scores[i] = at < length ? loaded.values[i] * scale : -infinity;
  }
  INGOT_ON_DEVICE bool sees(std::uint32_t) const { return true; }
};

struct AnyScores {
  struct Loaded {
    LoadedGroup x;
    LoadedGroup mask;
  };
  const float* x;
  const float* mask;  // null: none
  std::int64_t mask_stride;
  float scale;
  std::uint32_t length;
  std::uint32_t visible;
  bool is_aligned;

  INGOT_ON_DEVICE Loaded load(std::uint32_t at) const {
    Loaded loaded = {};
    load_group(loaded.x.values, x, at, length, is_aligned);
    if (mask == nullptr) return loaded;
    if (mask_stride != 0) {
      load_group(loaded.mask.values, mask, at, length, is_aligned);
    } else {
      INGOT_UNROLL
      for (float& value : loaded.mask.values) value = *mask;
    }
    return loaded;
  }
  INGOT_ON_DEVICE void take(const Loaded& loaded, float (&scores)[group_floats], std::uint32_t at) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      scores[i] = loaded.x.values[i] * scale;
      if (mask != nullptr) scores[i] = scores[i] + loaded.mask.values[i];
      if (at + i >= visible) scores[i] = -infinity;
    }
  }
  INGOT_ON_DEVICE bool sees(std::uint32_t at) const { return at < visible; }
};

INGOT_ON_DEVICE AnyScores scores_of(const SoftmaxRows& parameters, unsigned row) {
  const std::uint32_t length = parameters.x.length;
  std::int64_t visible = length;
  if (parameters.is_causal) visible = parameters.query_offset + row % parameters.queries + 1;
  visible = visible < 0 ? 0 : visible > length ? length : visible;
  return {.x = parameters.x.row(row),
          .mask = parameters.mask.data == nullptr ? nullptr : parameters.mask.row(row),
          .mask_stride = parameters.mask.stride,
          .scale = parameters.scale,
          .length = length,
          .visible = static_cast<std::uint32_t>(visible),
          .is_aligned = parameters.is_aligned};
}

// Of a row: the greatest score, or 0 where there is none, and the sum of weights below it.
struct SumOfWeights {
  float taken;
  float sum;
};

INGOT_ON_DEVICE float or_zero(float largest) { return largest == -infinity ? 0 : largest; }

// Two walks. What is not seen weighs nothing: its score is -infinity. A row that is kept has its weights from here on.
template <class Row, class Scores, class Load>
INGOT_ON_DEVICE SumOfWeights weigh(Row& kept, const Scores& from, float sink, bool keeps_weights, Load&& load_again) {
  using Workers = typename Row::Workers;
  float largest = -infinity;
  kept.first([&](unsigned at) { return from.load(at); },
             [&](const auto& loaded, float(&scores)[group_floats], unsigned at) {
               from.take(loaded, scores, at);
               INGOT_UNROLL
               for (const float score : scores) largest = maximum(largest, score);
             });
  const float taken = or_zero(maximum(Workers::maximum(largest), sink));
  float sum = 0;
  kept.replace(load_again, [&](float(&scores)[group_floats], unsigned) {
    INGOT_UNROLL
    for (float& score : scores) {
      const float weight = exponential(score - taken);
      sum = sum + weight;
      if (Row::is_kept && keeps_weights) score = weight;
    }
  });
  return {taken, Workers::sum(sum) + exponential(sink - taken)};
}

// One walk, for rows that are too long to be found in a cache again.
template <class Row, class Scores>
INGOT_ON_DEVICE SumOfWeights weigh_running(Row& row, const Scores& from, float sink) {
  using Workers = typename Row::Workers;
  RunningSum running;
  row.first([&](unsigned at) { return from.load(at); },
            [&](const auto& loaded, float(&)[group_floats], unsigned at) {
              float scores[1][group_floats];
              from.take(loaded, scores[0], at);
              running.add(scores);
            });
  const float largest = maximum(Workers::maximum(running.greatest), sink);
  const float sum = Workers::sum(running.sum * weight_below(running.greatest, largest));
  const float taken = or_zero(largest);
  return {taken, sum + exponential(sink - taken)};
}

// By its length alone: whether it could be kept depends on where it lies, too, and that must not show.
template <class Row, class Scores, class Load>
INGOT_ON_DEVICE SumOfWeights weigh_by_length(Row& row, const Scores& from, float sink, bool keeps_weights,
                                             Load&& load_again) {
  if constexpr (!Row::is_kept) {
    if (from.length > longest_kept_row) return weigh_running(row, from, sink);
  }
  return weigh(row, from, sink, keeps_weights, load_again);
}

// A row that is not kept is read, and its scores made, each time.
template <class Row, class Scores>
INGOT_ON_DEVICE void softmax(Row& kept, const Scores& from, unsigned row, const SoftmaxRows& parameters) {
  using Workers = typename Row::Workers;
  const auto load_again = [&](unsigned at) {
    LoadedGroup scores;
    from.take(from.load(at), scores.values, at);
    return scores;
  };
  const float sink = parameters.sinks.data == nullptr ? -infinity : parameters.sinks.at(row);
  const SumOfWeights weights = weigh_by_length(kept, from, sink, !parameters.is_logarithm, load_again);
  const float taken = weights.taken;
  const float sum = weights.sum;
  const float logarithm_of_sum = sum == 0 ? -infinity : logarithm(sum);
  if (Workers::rank() == 0 && parameters.log_sum_exp != nullptr) {
    parameters.log_sum_exp[row] = taken + logarithm_of_sum;
  }
  const float inverse = sum == 0 ? 0 : 1.0f / sum;
  float* const y = parameters.y.row(row);
  kept.again(load_again, [&](const float(&scores)[group_floats], unsigned at) {
    if (at >= from.length) return;
    float results[group_floats];
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      if (parameters.is_logarithm) {
        results[i] = sum == 0 ? -infinity : scores[i] - taken - logarithm_of_sum;
      } else {
        const float weight = Row::is_kept ? scores[i] : exponential(scores[i] - taken);
        results[i] = from.sees(at + i) ? weight * inverse : 0;
      }
    }
    store_group(results, y, at, from.length, from.is_aligned);
  });
}

template <class Row>
INGOT_ON_DEVICE void plain_softmax(Row& kept, unsigned row, const SoftmaxRows& parameters) {
  softmax(kept, PlainScores{parameters.x.row(row), parameters.scale, parameters.x.length}, row, parameters);
}

template <class Row>
INGOT_ON_DEVICE void softmax_row(Row kept, const SoftmaxRows& parameters) {
  const unsigned row = Row::Workers::row();
  if (row >= parameters.x.count) return;  // a whole warp: nobody waits for it
  if (parameters.is_plain) {
    plain_softmax(kept, row, parameters);
  } else {
    softmax(kept, scores_of(parameters, row), row, parameters);
  }
}

}  // namespace

INGOT_DEVICE_FUNCTION(softmax_warps, SoftmaxRows, 256) { softmax_row(WarpRow{}, parameters); }

INGOT_DEVICE_FUNCTION(softmax_blocks, SoftmaxRows, 256) { softmax_row(BlockRow{}, parameters); }

INGOT_DEVICE_FUNCTION(softmax_large_blocks, SoftmaxRows, 512) { softmax_row(LargeBlockRow{}, parameters); }

INGOT_DEVICE_FUNCTION(softmax_large, SoftmaxRows, threads_of_two_blocks) {
  LargestRow kept(parameters.x.row(block_index()), parameters.x.length);
  plain_softmax(kept, block_index(), parameters);
}

INGOT_DEVICE_FUNCTION(softmax_long, SoftmaxRows, 512) {
  softmax_row(LongRow<long_row_threads>{parameters.x.length}, parameters);
}

}  // namespace ingot::device
