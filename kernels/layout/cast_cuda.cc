#include "kernels/layout/cast_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/layout/cast.h"
#include "kernels/layout/device_movement.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(cast_cuda);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_f32_to_f16);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_f32_to_bf16);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_f16_to_f32);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_bf16_to_f32);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_packed_f32_to_f16);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_packed_f32_to_bf16);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_packed_f16_to_f32);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_packed_bf16_to_f32);
INGOT_DEVICE_FUNCTION_OF(cast_cuda, layout_cast_any);

// Of two types: for rows that lie anyhow, and for one that is packed, with the groups that a thread has of it.
struct CastFunctions {
  const DeviceFunction& of_rows;
  const DeviceFunction* of_packed;
  std::uint32_t turns;
};
CastFunctions cast_functions(DType from, DType to) {
  if (from == DType::f32 && to == DType::f16) {
    return {layout_cast_f32_to_f16_function, &layout_cast_packed_f32_to_f16_function, narrowing_turns};
  }
  if (from == DType::f32 && to == DType::bf16) {
    return {layout_cast_f32_to_bf16_function, &layout_cast_packed_f32_to_bf16_function, narrowing_turns};
  }
  if (from == DType::f16 && to == DType::f32) {
    return {layout_cast_f16_to_f32_function, &layout_cast_packed_f16_to_f32_function, widening_turns};
  }
  if (from == DType::bf16 && to == DType::f32) {
    return {layout_cast_bf16_to_f32_function, &layout_cast_packed_bf16_to_f32_function, widening_turns};
  }
  return {layout_cast_any_function, nullptr, most_turns};
}

// Whether groups of four elements lie where they can be moved at once, in the source (0) or in the target (1).
bool has_groups(const JointWalk<2>& walk, unsigned tensor, const std::byte* data, std::int64_t element_bytes) {
  const std::int64_t bytes = std::min<std::int64_t>(4 * element_bytes, 16);
  if (walk.steps[tensor] != element_bytes || reinterpret_cast<std::uintptr_t>(data) % 16 % bytes != 0) return false;
  for (std::uint32_t axis = 0; axis < walk.axes; ++axis) {
    if (walk.strides[axis][tensor] % bytes != 0) return false;
  }
  return true;
}

// Preconditions: rows and what is in them are counted in 32 bits.
void launch_cast(DeviceCast& cast, const Movement& movement, std::int64_t length, Queue& queue) {
  cast.walk.length = static_cast<std::uint32_t>(length);
  cast.walk.steps[0] = movement.from_step();
  cast.walk.steps[1] = movement.to_step();
  cast.is_grouped =
      has_groups(cast.walk, 0, cast.from, movement.from_bytes) && has_groups(cast.walk, 1, cast.to, movement.to_bytes);
  const std::uint32_t groups = cast.walk.length / 4 + (cast.walk.length % 4 != 0 ? 1 : 0);
  cast.items = walk_items(cast.walk.rows, cast.is_grouped ? groups : cast.walk.length);
  const CastFunctions functions = cast_functions(cast.from_type, cast.to_type);
  const bool is_packed = cast.is_grouped && cast.walk.rows == 1 && functions.of_packed != nullptr;
  if (is_packed) cast.items.turns = std::min(cast.items.turns, functions.turns);
  queue.launch(is_packed ? *functions.of_packed : functions.of_rows, walk_shape(cast.walk.rows, cast.items), cast);
}

void run_cast(const Cast::Arguments& a, Context& context) {
  if (a.x.dtype() == a.y.dtype()) return launch_movement(a.x, a.y, context);
  const Movement movement(a.x, a.y);
  if (movement.empty) return;
  DeviceCast cast = {.walk = walk_of_rows(movement, -1),
                     .from = movement.from,
                     .to = movement.to,
                     .from_type = a.x.dtype(),
                     .to_type = a.y.dtype(),
                     .items = {},
                     .is_grouped = false};
  if (movement.rank > 1) return launch_cast(cast, movement, movement.length(), *context.queue);
  for (std::int64_t begin = 0; begin < movement.length(); begin += longest_piece) {
    cast.from = movement.from + begin * movement.from_step();
    cast.to = movement.to + begin * movement.to_step();
    launch_cast(cast, movement, std::min(longest_piece, movement.length() - begin), *context.queue);
  }
}

}  // namespace

constinit const Variant<Cast> cast_cuda = {.name = "cuda",
                                           .needs = {Feature::sm_80},
                                           .run = run_cast,
                                           .accepts =
                                               [](const Cast::Arguments& a) {
                                                 const Movement movement(a.x, a.y);
                                                 return fits_device(movement) &&
                                                        (movement.empty || movement.length() < std::int64_t{1} << 31);
                                               },
                                           .device_function = &layout_cast_any_function};

}  // namespace ingot
