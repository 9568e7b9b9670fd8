// RowGroups: how the threads of a launch share rows that are cut into groups (four floats, mostly), where no row needs
// to know another of its groups. Long rows are cut into pieces of a block each; of short ones a block takes several.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

namespace ingot {

struct RowGroups {
  static constexpr std::uint32_t threads = 256;  // of a block

  std::uint32_t rows = 0;
  std::uint32_t groups = 0;          // of a row
  std::uint32_t pieces = 0;          // of a row; 0: a block takes whole rows
  std::uint32_t rows_per_block = 0;  // where it does

  constexpr RowGroups() = default;
  constexpr RowGroups(std::uint32_t row_count, std::uint32_t groups_per_row) : rows(row_count), groups(groups_per_row) {
    if (groups > threads) {
      pieces = (groups + threads - 1) / threads;
    } else if (groups > 0) {
      rows_per_block = threads / groups;
    }
  }
  constexpr std::uint32_t blocks() const {
    return pieces > 0 ? rows * pieces : groups > 0 ? (rows + rows_per_block - 1) / rows_per_block : 0;
  }

  // Calls work(row, group) for the group that is this thread's, where there is one.
  template <class Work>
  INGOT_ON_DEVICE void visit(std::uint32_t block, std::uint32_t thread, Work&& work) const {
    if (pieces > 0) {
      const std::uint32_t group = block % pieces * threads + thread;
      if (group < groups) work(block / pieces, group);
      return;
    }
    const std::uint32_t row = block * rows_per_block + thread / groups;
    if (thread < rows_per_block * groups && row < rows) work(row, thread % groups);
  }
};

}  // namespace ingot
