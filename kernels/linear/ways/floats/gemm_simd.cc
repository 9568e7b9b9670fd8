// The packed matrix product for every vector target: blocks, tasks and edges. See gemm.h for the shape of it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/linear/ways/floats/gemm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_codes.h"
#include "tensor/block_scales.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/ways/floats/gemm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/linear/ways/floats/gemm_left-inl.h"
#include "kernels/linear/ways/floats/gemm_pack-inl.h"
#include "kernels/linear/ways/floats/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// One block of the depth of one block of columns, with the right operand packed.
struct PackedBlock {
  const GemmOperand& left;
  const float* right;
  std::int64_t depth_begin;
  std::int64_t depth;
  float* out;
  std::int64_t out_stride;
  const float* bias;
  bool accumulate;
};

// A tile that reaches past the edge is made in a buffer, and what is inside the output is copied.
void multiply_edge(const PackedBlock& block, TileLeft left, const float* right, std::int64_t rows, std::int64_t columns,
                   float* out, const float* bias) {
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

// The rows of one tile, `rows` from `row` on, by the columns [column_begin, column_end).
void multiply_rows_of_tile(const PackedBlock& block, TileLeft left, std::int64_t row, std::int64_t rows,
                           std::int64_t column_begin, std::int64_t column_end) {
  for (std::int64_t column = column_begin; column < column_end; column += tile_columns) {
    const float* right = block.right + column * block.depth;
    const float* bias = block.bias == nullptr ? nullptr : block.bias + column;
    float* out = block.out + row * block.out_stride + column;
    const std::int64_t columns = std::min<std::int64_t>(tile_columns, column_end - column);
    prefetch_next_rows(left, (column - column_begin) / tile_columns, block.depth);
    // Parts of a tile store whole vectors and whole parts, so only these sizes may go straight to the output.
    if (columns % tile_lanes == 0 && rows % tile_part == 0) {
      multiply_part(left, right, block.depth, rows, columns, {out, block.out_stride, bias, block.accumulate});
    } else {
      multiply_edge(block, left, right, rows, columns, out, bias);
    }
  }
}

// What a task multiplies at most.
//
// Columns: as many as half of the second-level cache holds (1 KiB each), where they stay while rows after rows meet
// them. Where rows are packed, once for so many columns costs a hundredth of their product.
//
// Rows: so many that a cache line of a transposed operand, whose rows are neighbours, is read once or twice, and so few
// that a task takes about 50 microseconds at most: threads end together, and whoever waits for the others need not
// sleep.
#if HWY_TARGET == HWY_NEON
constexpr std::int64_t task_rows = 12, most_columns = 512;
#elif HWY_TARGET == HWY_SSE4
constexpr std::int64_t task_rows = 12, most_columns = 192;
#elif HWY_TARGET == HWY_AVX2
constexpr std::int64_t task_rows = 8, most_columns = 768;
#else
constexpr std::int64_t task_rows = 16, most_columns = 768;
#endif
static_assert(task_rows % tile_rows == 0 && most_columns % tile_columns == 0);

// The columns [column_begin, column_end), which begin at a panel, of the task's rows from row_begin on.
void multiply_task(const PackedBlock& block, std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                   std::int64_t column_end) {
  constexpr std::int64_t read_past_the_end = 16;  // see gemm_tile_neon-inl.h
  alignas(64) float copy[task_rows * gemm_depth_block + read_past_the_end];
  const TileLeft left = read_left(block.left, {row_begin, row_end - row_begin, block.depth_begin, block.depth}, copy);
  for (std::int64_t row = row_begin; row < row_end; row += tile_rows) {
    multiply_rows_of_tile(block, skip_rows(left, row - row_begin, block.depth), row,
                          std::min<std::int64_t>(tile_rows, row_end - row), column_begin, column_end);
  }
}

// How the columns are cut.
struct ColumnTasks {
  std::int64_t packed;      // by tasks that pack
  std::int64_t multiplied;  // by tasks that multiply
};
static_assert(gemm_most_packed_columns % tile_columns == 0);

ColumnTasks column_tasks(const Gemm& gemm, int threads) {
  // Panels are whole, and blocks of weights are decoded whole.
  const std::int64_t granule = std::lcm<std::int64_t>(tile_columns, block_elements(gemm.right.dtype));
  const std::int64_t near = std::min(most_columns, gemm_columns_in_cache()) / granule * granule;
  ColumnTasks tasks{gemm_most_packed_columns, std::max(near, granule)};
  if (threads == 1) return tasks;
  // At least four tasks a thread where the product is large enough for that.
  const std::int64_t enough = std::int64_t{4} * threads;
  const std::int64_t columns = std::min(gemm.columns, gemm_column_block);
  tasks.packed =
      std::min(divide_rounding_up(divide_rounding_up(columns, enough), granule) * granule, gemm_most_packed_columns);
  while (tasks.multiplied % (2 * granule) == 0 &&
         divide_rounding_up(gemm.rows, task_rows) * divide_rounding_up(columns, tasks.multiplied) < enough) {
    tasks.multiplied /= 2;
  }
  return tasks;
}

// `parallel(items, task)` calls task(index) for each item, in any order.
template <class Parallel>
void multiply(const Gemm& gemm, const ColumnTasks& tasks, std::byte* scratch, Parallel&& parallel) {
  if (gemm.rows == 0 || gemm.columns == 0) return;
  // Blocks of even depth, so that none is a remnant; a multiple of 32 for the formats of 32. At least one, even where
  // there is nothing to sum: the output must be written.
  const std::int64_t depth_blocks = std::max<std::int64_t>(1, divide_rounding_up(gemm.depth, gemm_depth_block));
  const std::int64_t depth_step = divide_rounding_up(divide_rounding_up(gemm.depth, depth_blocks), 32) * 32;
  float* packed = reinterpret_cast<float*>(scratch);

  for (std::int64_t column = 0; column < gemm.columns; column += gemm_column_block) {
    const std::int64_t columns = std::min(gemm_column_block, gemm.columns - column);
    for (std::int64_t depth_block = 0; depth_block < depth_blocks; ++depth_block) {
      const std::int64_t deep = depth_block * depth_step;
      const std::int64_t depth = std::clamp<std::int64_t>(gemm.depth - deep, 0, depth_step);
      parallel(divide_rounding_up(columns, tasks.packed), [&](std::int64_t index) {
        const std::int64_t begin = index * tasks.packed;
        pack(gemm.right, {column + begin, std::min(tasks.packed, columns - begin), deep, depth}, tile_columns,
             packed + begin * depth);
      });
      const bool last = depth_block + 1 == depth_blocks;
      const PackedBlock block{gemm.left,
                              packed,
                              deep,
                              depth,
                              gemm.out + column,
                              gemm.out_stride,
                              last && gemm.bias != nullptr ? gemm.bias + column : nullptr,
                              depth_block > 0 || gemm.start == GemmStart::accumulate};
      // Neighbouring tasks share their columns: what one of them brought into the cache the next one finds there.
      const std::int64_t row_tasks = divide_rounding_up(gemm.rows, task_rows);
      parallel(row_tasks * divide_rounding_up(columns, tasks.multiplied), [&](std::int64_t index) {
        const std::int64_t row_begin = index % row_tasks * task_rows;
        const std::int64_t column_begin = index / row_tasks * tasks.multiplied;
        multiply_task(block, row_begin, std::min(row_begin + task_rows, gemm.rows), column_begin,
                      std::min(column_begin + tasks.multiplied, columns));
      });
    }
  }
}

void multiply_threaded(const Gemm& gemm, Workers& workers, std::byte* scratch) {
  multiply(gemm, column_tasks(gemm, workers.count()), scratch, [&](std::int64_t items, auto&& task) {
    workers.for_chunks(items, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t index = begin; index < end; ++index) task(index);
    });
  });
}

void multiply_serial(const Gemm& gemm, std::byte* scratch) {
  multiply(gemm, column_tasks(gemm, 1), scratch, [](std::int64_t items, auto&& task) {
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
