// Vector causal convolution in two orders: along time where x and y are packed in time, along channels where they are
// packed in channels (token-major activations, and any single token).
#include <algorithm>

#include "kernels/state/causal_conv1d.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/state/causal_conv1d_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t most_taps = causal_conv1d_most_taps;

template <class D, class V>
HWY_INLINE V activate(D d, V u, ConvolutionActivation activation) {
  if (activation == ConvolutionActivation::none) return u;
  // e^-|u| cannot overflow, so a large negative u gives 0 and not 0/inf.
  const auto one = hn::Set(d, 1.0f);
  const auto decayed = exp_of(d, hn::Neg(hn::Abs(u)));
  const auto numerator = hn::IfThenElse(hn::Lt(u, hn::Zero(d)), decayed, one);
  return hn::Mul(u, hn::Div(numerator, hn::Add(one, decayed)));
}

struct ChannelTaps {
  float weights[most_taps];
  float bias;
  std::int64_t count;
  ConvolutionActivation activation;
};

// y[t] = f(bias + sum_j weights[j] line[t + j]) for t in [begin, end), in steps of D's lanes as far as they fit.
template <class D>
std::int64_t convolve_along_time(D d, const float* line, const ChannelTaps& taps, float* y, std::int64_t begin,
                                 std::int64_t end) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; begin + lanes <= end; begin += lanes) {
    auto sum = hn::Set(d, taps.bias);
    for (std::int64_t j = 0; j < taps.count; ++j) {
      sum = hn::MulAdd(hn::Set(d, taps.weights[j]), hn::LoadU(d, line + begin + j), sum);
    }
    hn::StoreU(activate(d, sum, taps.activation), d, y + begin);
  }
  return begin;
}

void convolve_line(const float* line, const ChannelTaps& taps, float* y, std::int64_t count) {
  const std::int64_t done = convolve_along_time(hn::ScalableTag<float>(), line, taps, y, 0, count);
  convolve_along_time(hn::CappedTag<float, 1>(), line, taps, y, done, count);
}

void write_final_state(const CausalConv1d::Arguments& a, std::int64_t batch, std::int64_t channel) {
  const std::int64_t carried = a.final_state.size(2);
  const std::int64_t time = a.x.size(2);
  // Ascending: in place, an element moves to a lower index.
  for (std::int64_t i = 0; i < carried; ++i) {
    const std::int64_t from = time + i;
    float value = 0;
    if (from >= carried) {
      value = a.x(batch, channel, from - carried);
    } else if (is_present(a.initial_state)) {
      value = a.initial_state(batch, channel, from);
    }
    a.final_state(batch, channel, i) = value;
  }
}

void convolve_channel(const CausalConv1d::Arguments& a, std::int64_t batch, std::int64_t channel) {
  ChannelTaps taps;
  taps.count = a.weights.size(1);
  taps.activation = a.activation;
  taps.bias = is_present(a.bias) ? a.bias(channel) : 0.0f;
  for (std::int64_t j = 0; j < taps.count; ++j) taps.weights[j] = a.weights(channel, j);
  const std::int64_t carried = taps.count - 1;
  const std::int64_t time = a.x.size(2);
  if (time == 0) return write_final_state(a, batch, channel);
  const float* x = &a.x(batch, channel, 0);
  float* y = &a.y(batch, channel, 0);
  // The first K-1 outputs reach into the state: they read a short line that holds both.
  const std::int64_t head = std::min(carried, time);
  float line[2 * most_taps];
  for (std::int64_t i = 0; i < carried; ++i) {
    line[i] = is_present(a.initial_state) ? a.initial_state(batch, channel, i) : 0.0f;
  }
  for (std::int64_t t = 0; t < head; ++t) line[carried + t] = x[t];
  convolve_line(line, taps, y, head);
  if (time > head) convolve_line(x, taps, y + head, time - head);
  write_final_state(a, batch, channel);
}

// Token by token over a block of neighbouring channels: 1 KiB of each token, long enough for the prefetcher.
constexpr std::int64_t block_channels = 256;

// The block's weights, bias and state, turned so that a tap's neighbours are neighbouring channels.
struct BlockTaps {
  float weights[most_taps * block_channels];
  float state[most_taps * block_channels];
  float bias[block_channels];
};

void turn_block(const CausalConv1d::Arguments& a, std::int64_t batch, std::int64_t first, std::int64_t count,
                BlockTaps& block) {
  const std::int64_t taps = a.weights.size(1);
  const std::int64_t weight_step = a.weights.stride(1);
  const bool has_state = is_present(a.initial_state) && taps > 1;
  const std::int64_t state_step = has_state ? a.initial_state.stride(2) : 0;
  for (std::int64_t c = 0; c < count; ++c) {
    const float* weights = &a.weights(first + c, 0);
    for (std::int64_t j = 0; j < taps; ++j) block.weights[j * block_channels + c] = weights[j * weight_step];
    const float* state = has_state ? &a.initial_state(batch, first + c, 0) : nullptr;
    for (std::int64_t i = 0; i + 1 < taps; ++i) {
      block.state[i * block_channels + c] = has_state ? state[i * state_step] : 0.0f;
    }
    block.bias[c] = is_present(a.bias) ? a.bias(first + c) : 0.0f;
  }
}

// One token, the channels [c, count) of the block in steps of D's lanes as far as they fit.
template <class D>
std::int64_t convolve_along_channels(D d, const BlockTaps& block, const float* const* lines, std::int64_t taps,
                                     ConvolutionActivation activation, float* y, std::int64_t c, std::int64_t count) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; c + lanes <= count; c += lanes) {
    auto sum = hn::LoadU(d, block.bias + c);
    for (std::int64_t j = 0; j < taps; ++j) {
      sum = hn::MulAdd(hn::LoadU(d, block.weights + j * block_channels + c), hn::LoadU(d, lines[j] + c), sum);
    }
    hn::StoreU(activate(d, sum, activation), d, y + c);
  }
  return c;
}

void convolve_block(const CausalConv1d::Arguments& a, std::int64_t batch, std::int64_t first, std::int64_t count) {
  const std::int64_t taps = a.weights.size(1);
  BlockTaps block;
  turn_block(a, batch, first, count, block);
  for (std::int64_t t = 0; t < a.x.size(2); ++t) {
    const float* lines[most_taps];  // where each tap reads this token's channels
    for (std::int64_t j = 0; j < taps; ++j) {
      const std::int64_t from = t + j - (taps - 1);
      lines[j] = from < 0 ? block.state + (t + j) * block_channels : &a.x(batch, first, from);
    }
    float* y = &a.y(batch, first, t);
    const std::int64_t done =
        convolve_along_channels(hn::ScalableTag<float>(), block, lines, taps, a.activation, y, 0, count);
    convolve_along_channels(hn::CappedTag<float, 1>(), block, lines, taps, a.activation, y, done, count);
  }
  // What is carried on, read through the turned copy: in place, the state itself is being overwritten.
  for (std::int64_t i = 0; i + 1 < taps; ++i) {
    const std::int64_t from = a.x.size(2) + i - (taps - 1);
    const float* line = from < 0 ? block.state + (a.x.size(2) + i) * block_channels : &a.x(batch, first, from);
    float* state = &a.final_state(batch, first, i);
    for (std::int64_t c = 0; c < count; ++c) state[c * a.final_state.stride(1)] = line[c];
  }
}

void run_along_channels(const CausalConv1d::Arguments& a, Context& context) {
  const std::int64_t channels = a.x.size(1);
  const std::int64_t blocks = divide_rounding_up(channels, block_channels);
  const auto block_bytes =
      static_cast<std::int64_t>(2 * sizeof(float)) * block_channels * (a.x.size(2) + a.weights.size(1));
  context.workers.for_chunks(a.x.size(0) * blocks, rows_per_chunk(block_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t task = begin; task < end; ++task) {
                                 const std::int64_t first = task % blocks * block_channels;
                                 convolve_block(a, task / blocks, first, std::min(block_channels, channels - first));
                               }
                             });
}

void run_along_time(const CausalConv1d::Arguments& a, Context& context) {
  const std::int64_t channels = a.x.size(1);
  const auto row_bytes = static_cast<std::int64_t>(2 * sizeof(float)) * (a.x.size(2) + a.weights.size(1));
  context.workers.for_chunks(a.x.size(0) * channels, rows_per_chunk(row_bytes),
                             [&](std::int64_t begin, std::int64_t end, int) {
                               for (std::int64_t row = begin; row < end; ++row)
                                 convolve_channel(a, row / channels, row % channels);
                             });
}

void causal_conv1d(const CausalConv1d::Arguments& a, Context& context) {
  if (a.x.size(0) == 0 || a.x.size(1) == 0) return;
  if (a.x.stride(1) == 1 && a.y.stride(1) == 1) {
    run_along_channels(a, context);
  } else {
    run_along_time(a, context);
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<CausalConv1d> causal_conv1d_simd = INGOT_SIMD_ENTRIES(causal_conv1d);
}  // namespace ingot
#endif
