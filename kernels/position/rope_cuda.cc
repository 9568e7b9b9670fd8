#include "kernels/position/rope_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/position/rope_launch.h"
#include "kernels/position/rope_table.h"
#include "kernels/position/sinusoidal.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(rope_cuda);
INGOT_DEVICE_FUNCTION_OF(rope_cuda, rope_heads);
INGOT_DEVICE_FUNCTION_OF(rope_cuda, joint_rope_heads);
INGOT_DEVICE_FUNCTION_OF(rope_cuda, rope_table_rows);
INGOT_DEVICE_FUNCTION_OF(rope_cuda, sinusoidal_rows);

void run_rope(const Rope::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  RopeHeads heads = rope_heads_of(a.call());
  for_each_list(a, [&](const FrequencyList& list) {
    heads.list = list;
    context.queue->launch(rope_heads_function, shape_of(heads.heads, a.x.size(0)), heads);
  });
}

void run_joint_rope(const JointRope::Arguments& a, Context& context) {
  if (a.first.size(0) == 0) return;
  const auto [first, second] = a.calls();
  JointRopeHeads heads = {.rope = rope_heads_of(first), .second = heads_of(second), .first_blocks = 0};
  LaunchShape shape = shape_of(heads.rope.heads, a.first.size(0));
  heads.first_blocks = shape.blocks_y;
  shape.blocks_y += shape_of(heads.second, a.second.size(0)).blocks_y;
  for_each_list(a, [&](const FrequencyList& list) {
    heads.rope.list = list;
    context.queue->launch(joint_rope_heads_function, shape, heads);
  });
}

void run_rope_table(const RopeTable::Arguments& a, Context& context) {
  if (a.cosine.empty()) return;
  RopeTableRows rows = {.positions = device_tensor(a.positions),
                        .cosine = device_tensor(a.cosine),
                        .sine = device_tensor(a.sine),
                        .groups = {},
                        .magnitude = rotation_magnitude(a),
                        .list = {}};
  for_each_list(a, [&](const FrequencyList& list) {
    rows.list = list;
    rows.groups = RowGroups(static_cast<std::uint32_t>(a.cosine.size(0)), list.count);
    context.queue->launch(rope_table_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                          rows);
  });
}

void run_sinusoidal(const Sinusoidal::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  RotationAttributes rotation;  // whose frequencies the table has
  rotation.rotary_dimensions = a.y.size(1);
  rotation.base = a.base;
  SinusoidalRows rows = {.x = is_present(a.x) ? device_tensor(a.x) : DeviceTensor<const float>(),
                         .positions = device_tensor(a.positions),
                         .y = device_tensor(a.y),
                         .groups = {},
                         .pairs = static_cast<std::uint32_t>(a.y.size(1) / 2),
                         .is_interleaved = a.style == PairStyle::interleaved,
                         .list = {}};
  for_each_list(rotation, [&](const FrequencyList& list) {
    rows.list = list;
    rows.groups = RowGroups(static_cast<std::uint32_t>(a.y.size(0)), list.count);
    context.queue->launch(sinusoidal_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                          rows);
  });
}

}  // namespace

constinit const Variant<Rope> rope_cuda = {.name = "cuda",
                                           .needs = {Feature::sm_80},
                                           .run = run_rope,
                                           .accepts = [](const Rope::Arguments& a) { return fits_device(a.x.shape()); },
                                           .device_function = &rope_heads_function};

constinit const Variant<JointRope> joint_rope_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_joint_rope,
    .accepts =
        [](const JointRope::Arguments& a) {
          constexpr std::int64_t most_heads = 1 << 18;  // of each: together they are one axis of blocks
          return fits_device(a.first.shape()) && fits_device(a.second.shape()) && a.first.size(1) <= most_heads &&
                 a.second.size(1) <= most_heads;
        },
    .device_function = &joint_rope_heads_function};

constinit const Variant<RopeTable> rope_table_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_rope_table,
    .accepts = [](const RopeTable::Arguments& a) { return fits_device(a.cosine.shape()); },
    .device_function = &rope_table_rows_function};

constinit const Variant<Sinusoidal> sinusoidal_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_sinusoidal,
    .accepts = [](const Sinusoidal::Arguments& a) { return fits_device(a.y.shape()); },
    .device_function = &sinusoidal_rows_function};

}  // namespace ingot
