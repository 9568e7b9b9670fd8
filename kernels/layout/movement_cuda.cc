// The device rows of operations that only move elements: each is one or a few movements (movement.h).
#include "kernels/layout/movement_cuda.h"

#include "kernels/device/joint_windows.h"
#include "kernels/layout/concat.h"
#include "kernels/layout/copy.h"
#include "kernels/layout/device_movement.h"
#include "kernels/layout/slice.h"
#include "kernels/layout/strided_window.h"
#include "kernels/layout/transpose.h"
#include "tensor/subview.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(movement_cuda);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_move_1);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_move_2);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_move_4);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_move_8);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_move_16);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_transpose_1);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_transpose_2);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_transpose_4);
INGOT_DEVICE_FUNCTION_OF(movement_cuda, layout_transpose_8);

const DeviceFunction& move_function(std::int64_t unit) {
  switch (unit) {
    case 1: return layout_move_1_function;
    case 2: return layout_move_2_function;
    case 4: return layout_move_4_function;
    case 8: return layout_move_8_function;
    default: return layout_move_16_function;
  }
}

const DeviceFunction& transpose_function(std::int64_t unit) {
  switch (unit) {
    case 1: return layout_transpose_1_function;
    case 2: return layout_transpose_2_function;
    case 4: return layout_transpose_4_function;
    default: return layout_transpose_8_function;
  }
}

// The greatest power of two up to 16 that all of these are multiples of.
std::int64_t widest_unit(std::uint64_t ored) { return static_cast<std::int64_t>((ored | 16) & (0 - (ored | 16))); }

std::uint64_t ored_addresses(const std::byte* from, const std::byte* to) {
  return reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
}

// The widest unit that every row, and every step between rows, is a whole number of.
std::int64_t widest_unit(const Movement& movement) {
  if (!movement.has_stretches()) return movement.to_bytes;
  std::uint64_t ored =
      ored_addresses(movement.from, movement.to) | static_cast<std::uint64_t>(movement.length() * movement.to_bytes);
  for (int axis = 0; axis < movement.last(); ++axis) {
    const auto which = static_cast<std::size_t>(axis);
    ored |= static_cast<std::uint64_t>(movement.from_strides[which] | movement.to_strides[which]);
  }
  return widest_unit(ored);
}

void launch_units(DeviceMovement& moved, std::int64_t unit, Queue& queue) {
  moved.items = walk_items(moved.walk.rows, moved.walk.length);
  queue.launch(move_function(unit), walk_shape(moved.walk.rows, moved.items), moved);
}

// A single row of `count` units, in pieces that 32 bits count.
void launch_row(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t unit, std::int64_t from_step,
                std::int64_t to_step, Queue& queue) {
  for (std::int64_t begin = 0; begin < count; begin += longest_piece) {
    DeviceMovement moved = {.walk = {}, .from = from + begin * from_step, .to = to + begin * to_step, .items = {}};
    moved.walk.rows = 1;
    moved.walk.length = static_cast<std::uint32_t>(std::min(longest_piece, count - begin));
    moved.walk.steps[0] = from_step;
    moved.walk.steps[1] = to_step;
    launch_units(moved, unit, queue);
  }
}

void launch_single_row(const Movement& movement, Queue& queue) {
  if (!movement.has_stretches()) {
    return launch_row(movement.from, movement.to, movement.length(), movement.to_bytes, movement.from_step(),
                      movement.to_step(), queue);
  }
  // As wide as the addresses allow, and what is left over byte by byte.
  const std::int64_t bytes = movement.length() * movement.to_bytes;
  const std::int64_t unit = widest_unit(ored_addresses(movement.from, movement.to));
  const std::int64_t wide = bytes / unit * unit;
  launch_row(movement.from, movement.to, bytes / unit, unit, unit, unit, queue);
  launch_row(movement.from + wide, movement.to + wide, bytes - wide, 1, 1, 1, queue);
}

std::int64_t tiles_of(std::int64_t size) { return divide_rounding_up(size, std::int64_t{transposed_tile}); }

// Worth tiles: with shorter sides most of a tile's threads would find nothing to do.
bool is_worth_tiles(const Movement& movement, int axis) {
  if (axis < 0) return false;
  const std::int64_t lines = movement.sizes[static_cast<std::size_t>(axis)];
  if (lines < 16 || movement.length() < 16) return false;
  constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;
  return movement.rows() / lines <= most_blocks / tiles_of(lines) / tiles_of(movement.length());
}

void launch_transposition(const Movement& movement, int axis, Queue& queue) {
  const auto which = static_cast<std::size_t>(axis);
  DeviceTransposition transposition = {.others = walk_of_rows(movement, axis),
                                       .from = movement.from,
                                       .to = movement.to,
                                       .columns = static_cast<std::uint32_t>(movement.length()),
                                       .lines = static_cast<std::uint32_t>(movement.sizes[which]),
                                       .from_column = movement.from_step(),
                                       .to_line = movement.to_strides[which],
                                       .tiles_a_matrix = 0,
                                       .tiles_a_line = 0};
  transposition.tiles_a_line = static_cast<std::uint32_t>(tiles_of(transposition.columns));
  transposition.tiles_a_matrix = transposition.tiles_a_line * static_cast<std::uint32_t>(tiles_of(transposition.lines));
  queue.launch(transpose_function(movement.to_bytes),
               {.blocks = transposition.others.rows * transposition.tiles_a_matrix, .threads = 256}, transposition);
}

}  // namespace

void launch_movement(const ConstAnyView& source, const AnyView& target, Context& context) {
  const Movement movement(source, target);
  if (movement.empty) return;
  if (movement.rank == 1) return launch_single_row(movement, *context.queue);
  const int transposed = movement.transposed_axis();
  if (is_worth_tiles(movement, transposed)) return launch_transposition(movement, transposed, *context.queue);
  const std::int64_t unit = widest_unit(movement);
  DeviceMovement moved = {.walk = walk_of_rows(movement, -1), .from = movement.from, .to = movement.to, .items = {}};
  moved.walk.length = static_cast<std::uint32_t>(movement.length() * movement.to_bytes / unit);
  moved.walk.steps[0] = movement.has_stretches() ? unit : movement.from_step();
  moved.walk.steps[1] = movement.has_stretches() ? unit : movement.to_step();
  launch_units(moved, unit, *context.queue);
}

namespace {

bool fits_move(const ConstAnyView& source, const AnyView& target) { return fits_device(Movement(source, target)); }

ConstAnyView transposed_source(const Transpose::Arguments& a) { return transposed(a.x, a.axis_a, a.axis_b); }
ConstAnyView sliced_source(const Slice::Arguments& a) { return sliced(a.x, a.axis, a.begin, a.end, a.step); }
ConstAnyView windowed_source(const StridedWindow::Arguments& a) { return windowed(a.x, a.length, a.step); }

// The room of a part within y.
AnyView room_of(const Concat::Arguments& a, const ConstAnyView& part, std::int64_t begin) {
  return sliced(a.y, a.axis, begin, begin + part.size(static_cast<int>(a.axis)));
}

template <class Op>
constexpr Variant<Op> moving_row(void (*run)(const typename Op::Arguments&, Context&),
                                 bool (*accepts)(const typename Op::Arguments&)) {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run,
          .accepts = accepts,
          .device_function = &layout_move_16_function};
}

}  // namespace

constinit const Variant<Copy> copy_cuda =
    moving_row<Copy>([](const Copy::Arguments& a, Context& context) { launch_movement(a.x, a.y, context); },
                     [](const Copy::Arguments& a) { return fits_move(a.x, a.y); });

constinit const Variant<Transpose> transpose_cuda = moving_row<Transpose>(
    [](const Transpose::Arguments& a, Context& context) { launch_movement(transposed_source(a), a.y, context); },
    [](const Transpose::Arguments& a) { return fits_move(transposed_source(a), a.y); });

constinit const Variant<Slice> slice_cuda = moving_row<Slice>(
    [](const Slice::Arguments& a, Context& context) { launch_movement(sliced_source(a), a.y, context); },
    [](const Slice::Arguments& a) { return fits_move(sliced_source(a), a.y); });

constinit const Variant<StridedWindow> strided_window_cuda = moving_row<StridedWindow>(
    [](const StridedWindow::Arguments& a, Context& context) { launch_movement(windowed_source(a), a.y, context); },
    [](const StridedWindow::Arguments& a) { return fits_move(windowed_source(a), a.y); });

constinit const Variant<Concat> concat_cuda = moving_row<Concat>(
    [](const Concat::Arguments& a, Context& context) {
      for_each_part(a.parts(), a.axis, [&](const ConstAnyView& part, std::int64_t begin) {
        launch_movement(part, room_of(a, part, begin), context);
      });
    },
    [](const Concat::Arguments& a) {
      bool fits = true;
      for_each_part(a.parts(), a.axis, [&](const ConstAnyView& part, std::int64_t begin) {
        fits = fits && fits_move(part, room_of(a, part, begin));
      });
      return fits;
    });

}  // namespace ingot
