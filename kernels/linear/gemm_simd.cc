// The packed matrix product for every vector target: blocks, tasks and edges. See gemm.h for the shape of it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/contract/simd_targets.h"
#include "kernels/linear/gemm.h"
#include "tensor/block_codes.h"
#include "tensor/block_scales.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/gemm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/linear/gemm_pack-inl.h"
#include "kernels/linear/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// One block of the depth of one block of rows and columns, with both operands packed.
struct PackedBlock {
  const float* left;
  const float* right;
  std::int64_t depth;
  float* out;
  std::int64_t out_stride;
  const float* bias;
  bool accumulate;
};

// A tile that reaches past the edge is made in a buffer, and what is inside the output is copied.
void multiply_edge(const PackedBlock& block, const float* left, const float* right, std::int64_t rows,
                   std::int64_t columns, float* out, const float* bias) {
  alignas(64) float buffer[tile_rows * tile_columns];
  const TileTarget target{buffer, tile_columns, nullptr, false};
  multiply_part(left, right, block.depth, rows, columns, target);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float& to = out[i * block.out_stride + j];
      float sum = buffer[i * tile_columns + j];
      if (block.accumulate) sum = to + sum;
      if (bias != nullptr) sum = bias[j] + sum;
      to = sum;
    }
  }
}

// The columns [column_begin, column_end) of the rows [row_begin, row_end); both begin at a panel.
void multiply_task(const PackedBlock& block, std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                   std::int64_t column_end) {
  const auto multiply_one = [&](std::int64_t row, std::int64_t column) {
    const float* left = block.left + row * block.depth;
    const float* right = block.right + column * block.depth;
    const float* bias = block.bias == nullptr ? nullptr : block.bias + column;
    float* out = block.out + row * block.out_stride + column;
    const std::int64_t rows = std::min<std::int64_t>(tile_rows, row_end - row);
    const std::int64_t columns = std::min<std::int64_t>(tile_columns, column_end - column);
    // Parts of a tile store whole vectors and whole parts, so only these sizes may go straight to the output.
    if (columns % tile_lanes == 0 && rows % tile_part == 0) {
      multiply_part(left, right, block.depth, rows, columns, {out, block.out_stride, bias, block.accumulate});
    } else {
      multiply_edge(block, left, right, rows, columns, out, bias);
    }
  };
  for (std::int64_t row = row_begin; row < row_end; row += tile_rows) {
    for (std::int64_t column = column_begin; column < column_end; column += tile_columns) multiply_one(row, column);
  }
}

struct TaskSize {
  std::int64_t rows;
  std::int64_t columns;
};
// Columns: as many panels of the right operand (1 KiB a column) as stay in the second-level cache while each panel of
// rows meets all of them. That cache has 1 MiB or more beside AVX-512; PCs with AVX2 may have 256 KiB. Rows: the more
// of them, the less often those panels are brought from the cache beyond, which is slow on servers with AVX-512 and
// takes little on machines with NEON.
#if HWY_TARGET == HWY_AVX2
constexpr TaskSize largest_task{384, 192};
#elif HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_SSE4
constexpr TaskSize largest_task{96, 256};
#else
constexpr TaskSize largest_task{384, 768};
#endif
constexpr std::int64_t least_rows = 24;
static_assert(largest_task.rows % least_rows == 0 && least_rows % tile_rows == 0);
static_assert(largest_task.columns % tile_columns == 0 && largest_task.columns <= gemm_most_task_columns);
static_assert(gemm_row_block % least_rows == 0 && gemm_most_task_columns % tile_columns == 0);

// At least eight tasks a thread where the product is large enough for that, so that threads end together: columns are
// halved first, since a task's rows are what its panels of the right operand are read again for.
TaskSize task_size(const Gemm& gemm, int threads) {
  // Panels are whole, and blocks of weights are decoded whole.
  const std::int64_t granule = std::lcm<std::int64_t>(tile_columns, block_elements(gemm.right.dtype));
  TaskSize size{largest_task.rows, std::max(largest_task.columns, granule)};
  const auto are_few = [&] {
    return divide_rounding_up(std::min(gemm.rows, gemm_row_block), size.rows) *
               divide_rounding_up(std::min(gemm.columns, gemm_column_block), size.columns) <
           8 * threads;
  };
  if (threads == 1) return size;
  while (size.columns % (2 * granule) == 0 && are_few()) size.columns /= 2;
  while (size.rows > least_rows && are_few()) size.rows /= 2;
  return size;
}

// `parallel(items, task)` calls task(index) for each item, in any order.
template <class Parallel>
void multiply(const Gemm& gemm, const TaskSize& size, std::byte* scratch, Parallel&& parallel) {
  if (gemm.rows == 0 || gemm.columns == 0) return;
  // Blocks of even depth, so that none is a remnant; a multiple of 32 for the formats of 32. At least one, even where
  // there is nothing to sum: the output must be written.
  const std::int64_t depth_blocks = std::max<std::int64_t>(1, divide_rounding_up(gemm.depth, gemm_depth_block));
  const std::int64_t depth_step = divide_rounding_up(divide_rounding_up(gemm.depth, depth_blocks), 32) * 32;
  float* packed_right = reinterpret_cast<float*>(scratch);
  const std::int64_t widest = std::min(gemm.columns, gemm_column_block);
  float* packed_left = packed_right + divide_rounding_up(widest, 96) * 96 * std::max<std::int64_t>(depth_step, 32);

  for (std::int64_t column = 0; column < gemm.columns; column += gemm_column_block) {
    const std::int64_t columns = std::min(gemm_column_block, gemm.columns - column);
    const std::int64_t column_tasks = divide_rounding_up(columns, size.columns);
    for (std::int64_t depth_block = 0; depth_block < depth_blocks; ++depth_block) {
      const std::int64_t deep = depth_block * depth_step;
      const std::int64_t depth = std::clamp<std::int64_t>(gemm.depth - deep, 0, depth_step);
      for (std::int64_t row = 0; row < gemm.rows; row += gemm_row_block) {
        const std::int64_t rows = std::min(gemm_row_block, gemm.rows - row);
        const std::int64_t row_tasks = divide_rounding_up(rows, size.rows);
        const std::int64_t right_tasks = row == 0 ? column_tasks : 0;  // packed once for all blocks of rows
        parallel(right_tasks + row_tasks, [&](std::int64_t index) {
          if (index < right_tasks) {
            const std::int64_t begin = index * size.columns;
            pack(gemm.right, {column + begin, std::min(size.columns, columns - begin), deep, depth}, tile_columns,
                 packed_right + begin * depth);
          } else {
            const std::int64_t begin = (index - right_tasks) * size.rows;
            pack(gemm.left, {row + begin, std::min(size.rows, rows - begin), deep, depth}, tile_rows,
                 packed_left + begin * depth);
          }
        });
        const bool last = depth_block + 1 == depth_blocks;
        const PackedBlock block{packed_left,
                                packed_right,
                                depth,
                                gemm.out + row * gemm.out_stride + column,
                                gemm.out_stride,
                                last && gemm.bias != nullptr ? gemm.bias + column : nullptr,
                                depth_block > 0 || gemm.start == GemmStart::accumulate};
        // Neighbouring tasks share their rows: what one of them brought into the cache the next one finds there.
        parallel(row_tasks * column_tasks, [&](std::int64_t index) {
          const std::int64_t row_begin = index / column_tasks * size.rows;
          const std::int64_t column_begin = index % column_tasks * size.columns;
          multiply_task(block, row_begin, std::min(row_begin + size.rows, rows), column_begin,
                        std::min(column_begin + size.columns, columns));
        });
      }
    }
  }
}

void multiply_threaded(const Gemm& gemm, Workers& workers, std::byte* scratch) {
  multiply(gemm, task_size(gemm, workers.count()), scratch, [&](std::int64_t items, auto&& task) {
    workers.for_chunks(items, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t index = begin; index < end; ++index) task(index);
    });
  });
}

void multiply_serial(const Gemm& gemm, std::byte* scratch) {
  multiply(gemm, task_size(gemm, 1), scratch, [](std::int64_t items, auto&& task) {
    for (std::int64_t index = 0; index < items; ++index) task(index);
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const PerTarget<GemmFunction> gemm_threaded = INGOT_SIMD_ENTRIES(multiply_threaded);
const PerTarget<SerialGemmFunction> gemm_serial = INGOT_SIMD_ENTRIES(multiply_serial);
}  // namespace ingot
#endif
