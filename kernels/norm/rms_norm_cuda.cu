#include "kernels/norm/rms_norm_cuda.h"

#include "kernels/norm/prefetch_gamma.h"
#include "kernels/norm/row_sums_device.h"

namespace ingot::device {
namespace {

// What is loaded of a row. `is_aligned` is known where rows are: a load then is one instruction without a branch.
template <bool IsAligned>
struct PlainRow {
  const float* x;
  unsigned length;

  INGOT_ON_DEVICE LoadedGroup load(unsigned at) const {
    LoadedGroup loaded;
    load_group(loaded.values, x, at, length, IsAligned);
    return loaded;
  }
  INGOT_ON_DEVICE void take(const LoadedGroup& loaded, float (&group)[group_floats], unsigned) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) group[i] = loaded.values[i];
  }
  INGOT_ON_DEVICE LoadedGroup load_again(unsigned at) const { return load(at); }
};

// The sum may stand where x did: it is made once.
template <bool IsAligned>
struct SummedRow {
  struct Loaded {
    LoadedGroup x;
    LoadedGroup residual;
  };
  PlainRow<IsAligned> x;
  PlainRow<IsAligned> residual;
  float* sum;

  INGOT_ON_DEVICE Loaded load(unsigned at) const { return {x.load(at), residual.load(at)}; }
  INGOT_ON_DEVICE void take(const Loaded& loaded, float (&group)[group_floats], unsigned at) const {
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) group[i] = loaded.x.values[i] + loaded.residual.values[i];
    store_group(group, sum, at, x.length, IsAligned);
  }
  INGOT_ON_DEVICE LoadedGroup load_again(unsigned at) const { return PlainRow<IsAligned>{sum, x.length}.load(at); }
};

template <bool IsAligned, class Row, class Source>
INGOT_ON_DEVICE void normalise(Row& kept, const Source& source, unsigned row, const RmsNormRows& parameters) {
  using Workers = typename Row::Workers;
  const unsigned length = parameters.x.length;
  const auto load = [&](unsigned at) { return source.load(at); };
  const auto take = [&](const auto& loaded, float(&group)[group_floats], unsigned at) {
    source.take(loaded, group, at);
  };
  const auto load_again = [&](unsigned at) { return source.load_again(at); };
  const double mean = sum_of_squares(kept, length, load, take, load_again, parameters.epsilon) * parameters.factor;
  const float rstd = reciprocal_root(mean, parameters.epsilon);
  if (Workers::rank() == 0 && parameters.rstd != nullptr) parameters.rstd[row] = rstd;
  float* const y = parameters.y.row(row);
  kept.again(load_again, [&](const float(&group)[group_floats], unsigned at) {
    float gamma[group_floats] = {1, 1, 1, 1};
    if (parameters.gamma != nullptr) load_constant_group(gamma, parameters.gamma, at, length, IsAligned);
    float normalised[group_floats];
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) normalised[i] = gamma[i] * (group[i] * rstd);
    store_group(normalised, y, at, length, IsAligned);
  });
}

template <bool IsAligned, class Row>
INGOT_ON_DEVICE void normalise_from(Row& kept, unsigned row, const RmsNormRows& parameters) {
  const PlainRow<IsAligned> x = {parameters.x.row(row), parameters.x.length};
  if (parameters.residual.data == nullptr) return normalise<IsAligned>(kept, x, row, parameters);
  const SummedRow<IsAligned> sum = {x, {parameters.residual.row(row), x.length}, parameters.sum.row(row)};
  normalise<IsAligned>(kept, sum, row, parameters);
}

template <class Row>
INGOT_ON_DEVICE void normalise_row(Row kept, const RmsNormRows& parameters) {
  const unsigned row = Row::Workers::row();
  if (row >= parameters.x.count) return;  // a warp's row at the end of the last block: nobody waits for it
  if (parameters.is_aligned) return normalise_from<true>(kept, row, parameters);
  normalise_from<false>(kept, row, parameters);
}

}  // namespace

INGOT_DEVICE_FUNCTION_AFTER(rms_norm_warps, RmsNormRows, 256, prefetch_gamma) { normalise_row(WarpRow{}, parameters); }

INGOT_DEVICE_FUNCTION_AFTER(rms_norm_blocks, RmsNormRows, 256, prefetch_gamma) {
  normalise_row(BlockRow{}, parameters);
}

INGOT_DEVICE_FUNCTION_AFTER(rms_norm_large_blocks, RmsNormRows, 512, prefetch_gamma) {
  normalise_row(LargeBlockRow{}, parameters);
}

// Without a residual: two of what is loaded are more than its registers hold.
INGOT_DEVICE_FUNCTION_AFTER(rms_norm_large, RmsNormRows, threads_of_two_blocks, prefetch_gamma) {
  const unsigned row = block_index();
  const PlainRow<true> x = {parameters.x.row(row), parameters.x.length};
  LargestRow kept(x.x, x.length);
  normalise<true>(kept, x, row, parameters);
}

INGOT_DEVICE_FUNCTION_AFTER(rms_norm_long, RmsNormRows, 512, prefetch_gamma) {
  normalise_row(LongRow<long_row_threads>{parameters.x.length}, parameters);
}

}  // namespace ingot::device
