// The launch of device functions that walk rows as kernels/device/row_walk.h has them: a warp a row where a warp can
// keep it, a block where that can, a large block, one that keeps a part in shared memory, and one that reads the row
// anew each time where nobody can.
#pragma once

#include "kernels/device/row_shapes.h"
#include "machine/gpu/queue.h"

namespace ingot {

struct RowFunctions {
  const DeviceFunction& by_warps;  // 8 rows a block
  const DeviceFunction& by_blocks;
  const DeviceFunction& by_large_blocks;
  const DeviceFunction& of_large;  // with a part of the row in shared memory
  const DeviceFunction& of_long;
};

// `can_be_large`: whether functions.of_large takes these rows.
template <class Parameters>
void launch_rows(Queue& queue, const RowFunctions& functions, std::uint32_t rows, std::uint32_t length,
                 bool can_be_large, const Parameters& parameters) {
  constexpr std::uint32_t step = 16 * large_row.threads;  // bytes of a group of each thread
  const std::uint32_t beyond = length > large_row.length() ? length - large_row.length() : 0;
  const auto shared = static_cast<std::uint32_t>((beyond * std::uint64_t{sizeof(float)} + step - 1) / step * step);
  if (length <= warp_row.length()) {
    queue.launch(functions.by_warps, {.blocks = (rows + 7) / 8, .threads = 8 * warp_row.threads}, parameters);
  } else if (length <= block_row.length()) {
    queue.launch(functions.by_blocks, {.blocks = rows, .threads = block_row.threads}, parameters);
  } else if (length <= large_block_row.length()) {
    queue.launch(functions.by_large_blocks, {.blocks = rows, .threads = large_block_row.threads}, parameters);
  } else if (can_be_large && length <= longest_kept_row) {
    queue.launch(functions.of_large, {.blocks = rows, .threads = large_row.threads, .shared_bytes = shared},
                 parameters);
  } else {
    queue.launch(functions.of_long, {.blocks = rows, .threads = long_row_threads}, parameters);
  }
}

}  // namespace ingot
