#include "kernels/state/causal_conv1d_cuda.h"

#include <cstdlib>

#include "kernels/device/windows.h"
#include "kernels/state/causal_conv1d.h"
#include "machine/gpu/queue.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(causal_conv1d_cuda);
INGOT_DEVICE_FUNCTION_OF(causal_conv1d_cuda, convolve_outputs);
INGOT_DEVICE_FUNCTION_OF(causal_conv1d_cuda, keep_last_inputs);

constexpr std::int64_t few_times = 4;  // as decoding has them: one launch serves
constexpr std::uint32_t block_threads = 256;

bool accepts_channels(const CausalConv1d::Arguments& a) {
  return fits_device(a.x.shape()) && fits_device({a.x.size(0) * a.x.size(1)}) &&
         fits_device({a.x.count() / block_threads}) && fits_device(a.weights.shape());
}

void run_causal_conv1d(const CausalConv1d::Arguments& a, Context& context) {
  const std::int64_t channels = a.x.size(0) * a.x.size(1);
  if (channels == 0) return;
  ConvolvedChannels convolved = {
      .x = device_tensor(a.x),
      .weights = device_tensor(a.weights),
      .bias = is_present(a.bias) ? device_tensor(a.bias) : DeviceTensor<const float>(),
      .initial_state = is_present(a.initial_state) ? device_tensor(a.initial_state) : DeviceTensor<const float>(),
      .y = device_tensor(a.y),
      .final_state = device_tensor(a.final_state),
      .taps = static_cast<std::uint32_t>(a.weights.size(1)),
      .is_silu = a.activation == ConvolutionActivation::silu,
      .has_channels_last = std::abs(a.x.stride(1)) < std::abs(a.x.stride(2)),
      .has_outputs = a.x.size(2) <= few_times};
  const auto blocks = [](std::int64_t places) {
    return static_cast<std::uint32_t>(divide_rounding_up(places, block_threads));
  };
  if (!convolved.has_outputs) {
    context.queue->launch(convolve_outputs_function, {.blocks = blocks(a.x.count()), .threads = block_threads},
                          convolved);
  }
  context.queue->launch(keep_last_inputs_function, {.blocks = blocks(channels), .threads = block_threads}, convolved);
}

}  // namespace

constinit const Variant<CausalConv1d> causal_conv1d_cuda = {.name = "cuda",
                                                            .needs = {Feature::sm_80},
                                                            .run = run_causal_conv1d,
                                                            .accepts = accepts_channels,
                                                            .device_function = &convolve_outputs_function};

}  // namespace ingot
