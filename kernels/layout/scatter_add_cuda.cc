#include "kernels/layout/scatter_add_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/layout/scatter_add.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(scatter_add_cuda);
INGOT_DEVICE_FUNCTION_OF(scatter_add_cuda, scatter_add_rows);

void run_scatter_add(const ScatterAdd::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const bool has_base = is_present(a.base);
  ScatteredRows rows = {.x = device_rows(a.x),
                        .indices = a.indices.data(),
                        .base = has_base ? a.base.data() : nullptr,
                        .base_stride = has_base ? a.base.stride(0) : 0,
                        .y = a.y.data(),
                        .y_stride = a.y.stride(0),
                        .width = static_cast<std::uint32_t>(a.y.size(1)),
                        .blocks_a_row = 0};
  rows.blocks_a_row = (rows.width + scattered_columns - 1) / scattered_columns;
  const auto count = static_cast<std::uint32_t>(a.y.size(0));
  context.queue->launch(scatter_add_rows_function, {.blocks = count * rows.blocks_a_row, .threads = 256}, rows);
}

}  // namespace

constinit const Variant<ScatterAdd> scatter_add_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_scatter_add,
    .accepts = [](const ScatterAdd::Arguments& a) { return fits_device(a.y.shape()) && fits_device(a.x.shape()); },
    .device_function = &scatter_add_rows_function};

}  // namespace ingot
