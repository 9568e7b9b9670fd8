#include "kernels/quantization/dequantize_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/dequantize.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(dequantize_cuda);
INGOT_DEVICE_FUNCTION_OF(dequantize_cuda, dequantize_rows);

void run_dequantize(const Dequantize::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const DeviceRows<float> y = device_rows(a.y);
  const DequantizeRows rows = {.blocks = device_rows(byte_view(a.blocks)),
                               .y = y,
                               .groups = RowGroups(y.count, y.length / 4),
                               .dtype = a.blocks.dtype(),
                               .is_aligned = groups_are_aligned(a.y)};
  context.queue->launch(dequantize_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                        rows);
}

}  // namespace

constinit const Variant<Dequantize> dequantize_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_dequantize,
    .accepts =
        [](const Dequantize::Arguments& a) { return !is_generic_format(a.blocks.dtype()) && fits_device(a.y.shape()); },
    .device_function = &dequantize_rows_function};

}  // namespace ingot
