#include "kernels/layout/gather_rows_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/layout/gather_rows.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(gather_rows_cuda);
INGOT_DEVICE_FUNCTION_OF(gather_rows_cuda, gather_table_rows);

// Blocks are read as they lie; elements of plain types four at a time where all of them begin where they must.
bool table_is_aligned(const ConstAnyView& table) {
  if (is_block_format(table.dtype())) return true;
  const std::int64_t bytes = 4 * block_bytes(table.dtype());
  return reinterpret_cast<std::uintptr_t>(table.data()) % static_cast<std::uintptr_t>(bytes) == 0 &&
         (table.size(0) <= 1 || table.byte_stride(0) % bytes == 0);
}

void run_gather_rows(const GatherRows::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  GatheredRows rows = {.table = a.table.data(),
                       .table_stride = a.table.byte_stride(0),
                       .indices = a.indices.data(),
                       .y = device_rows(a.y),
                       .items = {},
                       .dtype = a.table.dtype(),
                       .is_planes = a.layout == WeightLayout::planes16,
                       .is_aligned = table_is_aligned(a.table) && groups_are_aligned(a.y)};
  rows.items = {.per_row = (rows.y.length + 3) / 4, .turns = 1};
  context.queue->launch(gather_table_rows_function, walk_shape(rows.y.count, rows.items), rows);
}

}  // namespace

constinit const Variant<GatherRows> gather_rows_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_gather_rows,
    // Interleaved rows are how the host's instructions want weights: nobody puts them on a device.
    .accepts =
        [](const GatherRows::Arguments& a) {
          if (a.layout == WeightLayout::planes16 && reinterpret_cast<std::uintptr_t>(a.table.data()) % 4 != 0)
            return false;
          if (is_generic_format(a.table.dtype())) return false;
          return a.layout != WeightLayout::interleaved8 && fits_device(a.y.shape());
        },
    .device_function = &gather_table_rows_function};

}  // namespace ingot
