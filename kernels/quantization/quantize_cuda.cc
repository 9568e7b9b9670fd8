#include "kernels/quantization/quantize_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/quantization/byte_rows.h"
#include "kernels/quantization/quantize.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(quantize_cuda);
INGOT_DEVICE_FUNCTION_OF(quantize_cuda, quantize_rows);

void run_quantize(const Quantize::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const DeviceRows<const float> x = device_rows(a.x);
  const QuantizeRows rows = {.x = x,
                             .blocks = device_rows(byte_view(a.blocks)),
                             .groups = RowGroups(x.count, x.length / 32),
                             .dtype = a.blocks.dtype(),
                             .is_aligned = groups_are_aligned(a.x)};
  context.queue->launch(quantize_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

// The other formats search for their scales, which is long and is done once, when a file is made: on the host.
bool accepts_quantize(const Quantize::Arguments& a) {
  const DType dtype = a.blocks.dtype();
  const bool has_fixed_rounding = dtype == DType::q8_0 || dtype == DType::q4_0 || dtype == DType::q4_1 ||
                                  dtype == DType::q5_0 || dtype == DType::q5_1;
  return has_fixed_rounding && fits_device(a.x.shape());
}

}  // namespace

constinit const Variant<Quantize> quantize_cuda = {.name = "cuda",
                                                   .needs = {Feature::sm_80},
                                                   .run = run_quantize,
                                                   .accepts = accepts_quantize,
                                                   .device_function = &quantize_rows_function};

}  // namespace ingot
