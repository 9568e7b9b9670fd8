// Which teams keep rows of which lengths: what device functions (kernels/device/row_walk.h) and their launches
// (kernels/device/row_launch.h) agree on.
#pragma once

#include <cstdint>

namespace ingot {

// Threads for a row, and how many groups of four numbers each of them has in registers.
struct RowShape {
  std::uint32_t threads;
  std::uint32_t groups;

  constexpr std::uint32_t length() const { return threads * groups * 4; }
};

// More groups, or more threads, would leave a multiprocessor too few blocks that load while others store: rows of 14336
// kept by blocks of 1,024 threads were normalised at 66 % of the copy rate, by two blocks of 512 at 94 % (H200).
inline constexpr RowShape warp_row = {32, 8};
inline constexpr RowShape block_row = {256, 4};
inline constexpr RowShape large_block_row = {512, 4};
// With the rest of the row in shared memory: two such blocks fit a multiprocessor of 9.0, one of them fits one of 8.6.
inline constexpr RowShape large_row = {512, 8};
inline constexpr std::uint32_t large_row_shared_bytes = 96 * 1024;  // at most
// What functions of such blocks are built for, so that the compiler leaves them the registers of two.
inline constexpr std::uint32_t threads_of_two_blocks = 2 * large_row.threads;
inline constexpr std::uint32_t longest_kept_row = large_row.length() + large_row_shared_bytes / 4;
// Nothing is kept.
inline constexpr std::uint32_t long_row_threads = large_row.threads;

}  // namespace ingot
