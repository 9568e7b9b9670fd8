#include "kernels/norm/layer_norm_cuda.h"

#include "kernels/norm/row_sums_device.h"

// Budget of layer_norm_warps: 80 registers. A lane keeps 32 elements of its row.
namespace ingot::device {
namespace {

struct Moments {
  double mean;
  double variance;
};

// Two walks, so that a large mean does not drown the variance; two more in double where float sums leave their range.
template <class Row, class Load>
INGOT_ON_DEVICE Moments moments_of(Row& row, Load&& load, unsigned length, double factor) {
  using Workers = typename Row::Workers;
  double sum = 0;
  row.first(load, [&](const LoadedGroup& loaded, float(&group)[group_floats], unsigned) {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) group[i] = loaded.values[i];
    sum += static_cast<double>((group[0] + group[1]) + (group[2] + group[3]));
  });
  double mean = Workers::sum(sum) * factor;
  const auto center = static_cast<float>(mean);
  double squares = 0;
  row.again(load, [&](const float(&group)[group_floats], unsigned at) {
    float of_group = 0;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      const float distance = at + i < length ? group[i] - center : 0;
      of_group = fused_multiply_add(distance, distance, of_group);
    }
    squares += static_cast<double>(of_group);
  });
  squares = Workers::sum(squares);
  if (squares <= 1e37) {
    const double shift = mean - static_cast<double>(center);
    const double variance = squares * factor - shift * shift;
    return {mean, variance > 0 ? variance : 0};
  }
  sum = 0;
  walk_slowly<Workers>(length, load, [&](const float(&group)[group_floats], unsigned) {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) sum += static_cast<double>(group[i]);
  });
  mean = Workers::sum(sum) * factor;
  squares = 0;
  walk_slowly<Workers>(length, load, [&](const float(&group)[group_floats], unsigned at) {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      const double distance = at + i < length ? static_cast<double>(group[i]) - mean : 0;
      squares = fused_multiply_add(distance, distance, squares);
    }
  });
  return {mean, Workers::sum(squares) * factor};
}

// Which numbers of gamma and beta belong to elements `at` to `at` + 3 of a row.
struct ByElement {
  template <bool IsAligned>
  static INGOT_ON_DEVICE void load(float (&group)[group_floats], const float* values, unsigned, unsigned at,
                                   const LayerNormRows& parameters) {
    load_constant_group(group, values, at, parameters.x.length, IsAligned);
  }
};
struct ByChannel {
  template <bool>
  static INGOT_ON_DEVICE void load(float (&group)[group_floats], const float* values, unsigned row, unsigned at,
                                   const LayerNormRows& parameters) {
    const float* const of_group = values + row % parameters.groups * parameters.channels;
    unsigned channel = at / parameters.positions;
    unsigned position = at % parameters.positions;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      if (at + i < parameters.x.length) group[i] = of_group[channel];
      if (++position == parameters.positions) {
        position = 0;
        ++channel;
      }
    }
  }
};

template <class Affine, bool IsAligned, class Row>
INGOT_ON_DEVICE void normalise(Row& kept, unsigned row, const LayerNormRows& parameters) {
  using Workers = typename Row::Workers;
  const unsigned length = parameters.x.length;
  const float* const x = parameters.x.row(row);
  const auto load = [&](unsigned at) {
    LoadedGroup loaded;
    load_group(loaded.values, x, at, length, IsAligned);
    return loaded;
  };
  const Moments moments = moments_of(kept, load, length, parameters.factor);
  const auto mean = static_cast<float>(moments.mean);
  const float rstd = reciprocal_root(moments.variance, parameters.epsilon);
  if (Workers::rank() == 0) {
    if (parameters.mean != nullptr) parameters.mean[row] = mean;
    if (parameters.rstd != nullptr) parameters.rstd[row] = rstd;
  }
  float* const y = parameters.y.row(row);
  kept.again(load, [&](const float(&group)[group_floats], unsigned at) {
    if (at >= length) return;
    float gamma[group_floats] = {1, 1, 1, 1};
    float beta[group_floats] = {0, 0, 0, 0};
    if (parameters.gamma != nullptr) Affine::template load<IsAligned>(gamma, parameters.gamma, row, at, parameters);
    if (parameters.beta != nullptr) Affine::template load<IsAligned>(beta, parameters.beta, row, at, parameters);
    float normalised[group_floats];
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) {
      normalised[i] = fused_multiply_add((group[i] - mean) * rstd, gamma[i], beta[i]);
    }
    store_group(normalised, y, at, length, IsAligned);
  });
}

template <class Affine, class Row>
INGOT_ON_DEVICE void normalise_row(Row kept, const LayerNormRows& parameters) {
  const unsigned row = Row::Workers::row();
  if (row >= parameters.x.count) return;  // a warp's row at the end of the last block: nobody waits for it
  if (parameters.is_aligned) return normalise<Affine, true>(kept, row, parameters);
  normalise<Affine, false>(kept, row, parameters);
}

}  // namespace

INGOT_DEVICE_FUNCTION(layer_norm_warps, LayerNormRows, 256) { normalise_row<ByElement>(WarpRow{}, parameters); }
INGOT_DEVICE_FUNCTION(layer_norm_blocks, LayerNormRows, 256) { normalise_row<ByElement>(BlockRow{}, parameters); }
INGOT_DEVICE_FUNCTION(layer_norm_large_blocks, LayerNormRows, threads_of_two_blocks) {
  normalise_row<ByElement>(LargeBlockRow{}, parameters);
}
INGOT_DEVICE_FUNCTION(layer_norm_large, LayerNormRows, threads_of_two_blocks) {
  LargestRow kept(parameters.x.row(block_index()), parameters.x.length);
  normalise<ByElement, true>(kept, block_index(), parameters);
}
INGOT_DEVICE_FUNCTION(layer_norm_long, LayerNormRows, 512) {
  normalise_row<ByElement>(LongRow<long_row_threads>{parameters.x.length}, parameters);
}

// Groups are long as a rule, and are not kept.
INGOT_DEVICE_FUNCTION(group_norm_warps, LayerNormRows, 256) {
  normalise_row<ByChannel>(LongRow<warp_size>{parameters.x.length}, parameters);
}
INGOT_DEVICE_FUNCTION(group_norm_blocks, LayerNormRows, 256) {
  normalise_row<ByChannel>(LongRow<256>{parameters.x.length}, parameters);
}
INGOT_DEVICE_FUNCTION(group_norm_long, LayerNormRows, 512) {
  normalise_row<ByChannel>(LongRow<long_row_threads>{parameters.x.length}, parameters);
}

}  // namespace ingot::device
