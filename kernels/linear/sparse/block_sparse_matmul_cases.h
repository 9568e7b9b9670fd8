// Shapes: one block, odd block sizes, block rows that keep nothing, no rows of x.
#pragma once

#include <vector>

#include "kernels/linear/sparse/block_sparse_matmul.h"

namespace ingot {

struct BlockSparseShape {
  std::int64_t rows;
  std::int64_t block_rows, block_columns;  // of the weight matrix, in blocks
  std::int64_t height, width;              // of a block
  int keep_percent = 50;
};

// Draws which blocks are kept, and fills the fields that both directions share.
template <class Arguments>
void fill_block_sparse(CaseBuilder& builder, const BlockSparseShape& shape, Arguments& a) {
  std::vector<std::int32_t> offsets = {0};
  std::vector<std::int32_t> columns;
  for (std::int64_t row = 0; row < shape.block_rows; ++row) {
    for (std::int64_t column = 0; column < shape.block_columns; ++column) {
      if (builder.random_index(100) < shape.keep_percent) columns.push_back(static_cast<std::int32_t>(column));
    }
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  auto copied = [&](const std::vector<std::int32_t>& from) {
    const auto view = builder.filled<std::int32_t>({static_cast<std::int64_t>(from.size())}, Fill::constant(0));
    for (std::size_t index = 0; index < from.size(); ++index) view(index) = from[index];
    return view;
  };
  a.x = builder.filled({shape.rows, shape.block_columns * shape.width});
  a.values = builder.filled({static_cast<std::int64_t>(columns.size()), shape.height, shape.width},
                            Fill::uniform(-1, 1), Packing::contiguous);
  a.row_offsets = copied(offsets);
  a.block_columns = copied(columns);
}

inline void BlockSparseMatmul::cases(CaseList<BlockSparseMatmul>& list) {
  auto build = [](BlockSparseShape shape, bool with_bias) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      fill_block_sparse(builder, shape, a);
      const std::int64_t outputs = shape.block_rows * shape.height;
      if (with_bias) a.bias = builder.filled({outputs}, Fill::uniform(-1, 1));
      a.y = builder.blank({shape.rows, outputs});
      return a;
    };
  };
  list.parity("one block of 1 x 1", build({1, 1, 1, 1, 1, 100}, false));
  list.parity("3 rows, 4 x 5 blocks of 2 x 7", build({3, 4, 5, 2, 7}, true));
  list.parity("2 rows, 3 x 3 blocks of 16 x 33", build({2, 3, 3, 16, 33}, true));
  list.parity("nothing kept", build({2, 2, 2, 4, 8, 0}, true));
  list.parity("no rows", build({0, 2, 2, 4, 8}, false));
  list.gradient("2 rows, 2 x 2 blocks of 2 x 3", build({2, 2, 2, 2, 3, 80}, true));
  list.benchmark("16 rows, 4096 x 4096 in 32 x 32, half kept", build({16, 128, 128, 32, 32}, false));
}

inline void BlockSparseMatmulBackward::cases(CaseList<BlockSparseMatmulBackward>& list) {
  auto build = [](BlockSparseShape shape) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      fill_block_sparse(builder, shape, a);
      const std::int64_t outputs = shape.block_rows * shape.height;
      a.dy = builder.filled({shape.rows, outputs}, Fill::uniform(-1, 1));
      a.dx = builder.blank(a.x.shape());
      a.dvalues = builder.blank(a.values.shape(), Packing::contiguous);
      a.dbias = builder.blank({outputs});
      return a;
    };
  };
  list.parity("3 rows, 4 x 5 blocks of 2 x 7", build({3, 4, 5, 2, 7}));
  list.parity("no rows", build({0, 2, 2, 4, 8}));
  list.benchmark("8 rows, 512 x 512 in 16 x 16, half kept", build({8, 32, 32, 16, 16}));
}

}  // namespace ingot
