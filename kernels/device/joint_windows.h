// The host's side of JointWalk and DeviceMap: made of views, for a launch's parameters.
#pragma once

#include <array>

#include "kernels/device/map_parameters.h"
#include "kernels/device/windows.h"
#include "machine/gpu/device_function.h"

namespace ingot {

// Precondition: fits_device(shape), and it has elements.
template <unsigned Tensors>
JointWalk<Tensors> joint_walk(const Shape& shape, const std::array<Strides, Tensors>& strides) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  struct Axis {
    std::uint32_t size = 1;
    std::array<std::int64_t, Tensors> strides;
  };
  std::array<Axis, max_rank> axes;
  std::uint32_t count = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto size = static_cast<std::uint32_t>(shape[axis]);
    if (size == 1) continue;
    bool continues = count > 0 && std::uint64_t{axes[count - 1].size} * size < most;
    for (unsigned tensor = 0; continues && tensor < Tensors; ++tensor) {
      continues = axes[count - 1].strides[tensor] == strides[tensor][axis] * size;
    }
    if (!continues) axes[count++].size = 1;
    axes[count - 1].size *= size;
    for (unsigned tensor = 0; tensor < Tensors; ++tensor) axes[count - 1].strides[tensor] = strides[tensor][axis];
  }
  if (count == 0) axes[count++].strides.fill(1);  // a single element is a row of one
  JointWalk<Tensors> walk;
  walk.rows = 1;
  walk.axes = count - 1;
  for (std::uint32_t axis = 0; axis < walk.axes; ++axis) {
    walk.rows *= axes[axis].size;
    walk.sizes[axis] = axes[axis].size;
    for (unsigned tensor = 0; tensor < Tensors; ++tensor) walk.strides[axis][tensor] = axes[axis].strides[tensor];
  }
  walk.length = axes[count - 1].size;
  for (unsigned tensor = 0; tensor < Tensors; ++tensor) walk.steps[tensor] = axes[count - 1].strides[tensor];
  return walk;
}

// Whether rows of a tensor of the walk are packed and every one of them begins at a multiple of `bytes`. Strides are in
// elements of `element_bytes`.
template <unsigned Tensors>
bool rows_are_aligned(const JointWalk<Tensors>& walk, unsigned tensor, const void* data, std::int64_t element_bytes,
                      std::int64_t bytes) {
  if (walk.steps[tensor] != 1 || reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) != 0) {
    return false;
  }
  for (std::uint32_t axis = 0; axis < walk.axes; ++axis) {
    if (walk.strides[axis][tensor] * element_bytes % bytes != 0) return false;
  }
  return true;
}

// How many threads a block of a walk has, and how many items a thread takes where there are many: enough loads in
// flight to keep memory busy. Few items are spread over more blocks instead.
inline constexpr std::uint32_t walk_threads = 256;
constexpr WalkItems walk_items(std::uint64_t rows, std::uint32_t per_row) {
  constexpr std::uint64_t few = 1 << 13;
  return {.per_row = per_row, .turns = rows * per_row <= few ? 1 : most_turns};
}
constexpr LaunchShape walk_shape(std::uint64_t rows, const WalkItems& items) {
  const std::uint64_t of_block = std::uint64_t{walk_threads} * items.turns;
  return {.blocks = static_cast<std::uint32_t>((rows * items.per_row + of_block - 1) / of_block),
          .threads = walk_threads};
}

// Sources repeat to the target's shape. Preconditions: they can; the target has elements and fits_device.
template <class... Source>
DeviceMap<sizeof...(Source)> device_map(const View<float>& target, const Source&... source) {
  constexpr unsigned count = sizeof...(Source);
  const Shape& shape = target.shape();
  DeviceMap<count> map;
  map.walk = joint_walk<count + 1>(shape, {target.strides(), source.broadcast_to(shape).value().strides()...});
  map.target = target.data();
  unsigned which = 0;
  ((map.sources[which++] = source.data()), ...);
  map.is_grouped = rows_are_aligned(map.walk, 0, map.target, sizeof(float), 16);
  for (unsigned tensor = 0; tensor < count; ++tensor) {
    const bool repeats = map.walk.steps[tensor + 1] == 0;
    map.is_grouped =
        map.is_grouped && (repeats || rows_are_aligned(map.walk, tensor + 1, map.sources[tensor], sizeof(float), 16));
  }
  const std::uint32_t groups = map.walk.length / 4 + (map.walk.length % 4 != 0 ? 1 : 0);
  map.items = walk_items(map.walk.rows, map.is_grouped ? groups : map.walk.length);
  return map;
}

template <unsigned Sources>
LaunchShape map_shape(const DeviceMap<Sources>& map) {
  return walk_shape(map.walk.rows, map.items);
}

}  // namespace ingot
