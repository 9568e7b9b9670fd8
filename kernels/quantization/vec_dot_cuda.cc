#include "kernels/quantization/vec_dot_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/quantization/vec_dot.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(vec_dot_cuda);
INGOT_DEVICE_FUNCTION_OF(vec_dot_cuda, vec_dot_rows);

void run_vec_dot(const VecDot::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const VecDotRows rows = {.weights = a.weights.data(),
                           .row_bytes = a.weights.byte_stride(0),
                           .codes = a.codes.data(),
                           .scales = a.scales.data(),
                           .sums = a.sums.data(),
                           .y = a.y.data(),
                           .rows = static_cast<std::uint32_t>(a.y.size(0)),
                           .length = static_cast<std::uint32_t>(a.codes.size(0)),
                           .dtype = a.weights.dtype()};
  context.queue->launch(vec_dot_rows_function, {.blocks = (rows.rows + 7) / 8, .threads = 256}, rows);
}

}  // namespace

constinit const Variant<VecDot> vec_dot_cuda = {.name = "cuda",
                                                .needs = {Feature::sm_80},
                                                .run = run_vec_dot,
                                                .accepts =
                                                    [](const VecDot::Arguments& a) {
                                                      return !is_generic_format(a.weights.dtype()) &&
                                                             fits_device(a.weights.shape());
                                                    },
                                                .device_function = &vec_dot_rows_function};

}  // namespace ingot
