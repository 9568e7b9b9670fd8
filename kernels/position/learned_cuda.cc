#include "kernels/position/learned_cuda.h"

#include <bit>

#include "kernels/device/windows.h"
#include "kernels/position/alibi_slopes.h"
#include "kernels/position/learned.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(learned_cuda);
INGOT_DEVICE_FUNCTION_OF(learned_cuda, learned_rows);
INGOT_DEVICE_FUNCTION_OF(learned_cuda, alibi_slope_list);

void run_learned(const Learned::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const DeviceRows<const float> x = device_rows(a.x);
  const LearnedRows rows = {
      .x = x,
      .table = device_rows(a.table),
      .positions = device_tensor(a.positions),
      .y = device_rows(a.y),
      .groups = RowGroups(x.count, (x.length + 3) / 4),
      .is_aligned = groups_are_aligned(a.x) && groups_are_aligned(a.table) && groups_are_aligned(a.y)};
  context.queue->launch(learned_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads}, rows);
}

void run_alibi_slopes(const AlibiSlopes::Arguments& a, Context& context) {
  const auto heads = static_cast<std::uint32_t>(a.slopes.size(0));
  if (heads == 0) return;
  context.queue->launch(
      alibi_slope_list_function, {.blocks = (heads + 255) / 256, .threads = 256},
      AlibiSlopeList{.slopes = device_tensor(a.slopes), .power = std::bit_floor(heads), .max_bias = a.max_bias});
}

}  // namespace

constinit const Variant<Learned> learned_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_learned,
    .accepts = [](const Learned::Arguments& a) { return fits_device(a.x.shape()) && fits_device(a.table.shape()); },
    .device_function = &learned_rows_function};

constinit const Variant<AlibiSlopes> alibi_slopes_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_alibi_slopes,
    .accepts = [](const AlibiSlopes::Arguments& a) { return fits_device(a.slopes.shape()); },
    .device_function = &alibi_slope_list_function};

}  // namespace ingot
