#include "kernels/quantization/quantize_activations_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/quantization/quantize_activations.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(quantize_activations_cuda);
INGOT_DEVICE_FUNCTION_OF(quantize_activations_cuda, quantize_activation_rows);

void run_quantize_activations(const QuantizeActivations::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const DeviceRows<const float> x = device_rows(a.x);
  const QuantizeActivationRows rows = {.x = x,
                                       .codes = device_rows(a.codes),
                                       .scales = device_rows(a.scales),
                                       .sums = is_present(a.sums) ? device_rows(a.sums) : DeviceRows<std::int32_t>(),
                                       .pieces = (x.length + 255) / 256,
                                       .block = static_cast<std::uint32_t>(a.block),
                                       .is_aligned = groups_are_aligned(a.x)};
  constexpr std::uint64_t warps = 8;
  const std::uint64_t blocks = (std::uint64_t{x.count} * rows.pieces + warps - 1) / warps;
  context.queue->launch(quantize_activation_rows_function,
                        {.blocks = static_cast<std::uint32_t>(blocks), .threads = 32 * warps}, rows);
}

}  // namespace

constinit const Variant<QuantizeActivations> quantize_activations_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_quantize_activations,
    .accepts = [](const QuantizeActivations::Arguments& a) { return fits_device(a.x.shape()); },
    .device_function = &quantize_activation_rows_function};

}  // namespace ingot
