#include "kernels/state/causal_conv1d_cuda.h"

#include "kernels/device/numbers.h"

namespace ingot::device {
namespace {

// Element `at` of the state and what follows it.
INGOT_ON_DEVICE float element_at(const ConvolvedChannels& parameters, unsigned batch, unsigned channel, unsigned at) {
  const unsigned kept = parameters.taps - 1;
  if (at >= kept) return parameters.x(batch, channel, at - kept);
  return parameters.initial_state.data == nullptr ? 0 : parameters.initial_state(batch, channel, at);
}

INGOT_ON_DEVICE void convolve(const ConvolvedChannels& parameters, unsigned batch, unsigned channel, unsigned time) {
  float sum = parameters.bias.data == nullptr ? 0 : parameters.bias(channel);
  for (unsigned tap = 0; tap < parameters.taps; ++tap) {
    sum = fused_multiply_add(parameters.weights(channel, tap), element_at(parameters, batch, channel, time + tap), sum);
  }
  parameters.y(batch, channel, time) = parameters.is_silu ? sum / (1 + exponential(-sum)) : sum;
}

}  // namespace

// A thread an output.
INGOT_DEVICE_FUNCTION(convolve_outputs, ConvolvedChannels, 256) {
  const unsigned channels = parameters.x.sizes[1];
  const unsigned times = parameters.x.sizes[2];
  const std::uint64_t place = std::uint64_t{block_index()} * thread_count() + thread_index();
  if (place >= std::uint64_t{parameters.x.sizes[0]} * channels * times) return;
  const unsigned fast = parameters.has_channels_last ? channels : times;
  const unsigned slow = parameters.has_channels_last ? times : channels;
  const auto low = static_cast<unsigned>(place % fast);
  const auto rest = static_cast<unsigned>(place / fast);
  const unsigned high = rest % slow;
  convolve(parameters, rest / slow, parameters.has_channels_last ? low : high,
           parameters.has_channels_last ? high : low);
}

// A thread a channel. Where the final state is the initial one, what is read lies behind what was written.
INGOT_DEVICE_FUNCTION(keep_last_inputs, ConvolvedChannels, 256) {
  const unsigned channels = parameters.x.sizes[1];
  const unsigned times = parameters.x.sizes[2];
  const unsigned place = block_index() * thread_count() + thread_index();
  if (place >= parameters.x.sizes[0] * channels) return;
  const unsigned batch = place / channels;
  const unsigned channel = place % channels;
  if (parameters.has_outputs) {
    for (unsigned time = 0; time < times; ++time) convolve(parameters, batch, channel, time);
  }
  for (unsigned i = 0; i + 1 < parameters.taps; ++i) {
    parameters.final_state(batch, channel, i) = element_at(parameters, batch, channel, times + i);
  }
}

}  // namespace ingot::device
