// The step of the ladder between the reference and the vector variants: plain C++, one thread, no packing. It shows
// what blocking alone is worth: a block of weights is read from cache once per row instead of from memory, and a tile
// of four by two outputs in registers uses every loaded number two or four times.
#include <algorithm>

#include "kernels/linear/matmul/matmul.h"

namespace ingot {
namespace {

constexpr std::int64_t blocked_columns = 64;  // 64 x 512 weights are 128 KiB: they stay in the second-level cache
constexpr std::int64_t blocked_depth = 512;
// Eight sums hide the latency of additions (four cycles, two a cycle); with the six numbers that a step loads they fit
// sixteen registers.
constexpr std::int64_t tile_rows = 4;
constexpr std::int64_t tile_columns = 2;
using TileSums = float[tile_rows][tile_columns];

struct BlockedTile {
  const View<const float>& x;
  const View<const float>& weights;
  std::int64_t begin, end;  // of the depth

  // sums[i][j] += sum_k x[m+i,k] weights[n+j,k]; rows past the edge repeat the last one and are not stored.
  void add(std::int64_t m, std::int64_t n, TileSums& sums) const {
    const float* left[tile_rows];
    const float* right[tile_columns];
    for (int i = 0; i < tile_rows; ++i) left[i] = &x(std::min(m + i, x.size(0) - 1), 0);
    for (int j = 0; j < tile_columns; ++j) right[j] = &weights(std::min(n + j, weights.size(0) - 1), 0);
    TileSums in_registers = {};
    for (std::int64_t k = begin; k < end; ++k) {
#pragma GCC unroll 4
      for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < tile_columns; ++j) in_registers[i][j] += left[i][k] * right[j][k];
      }
    }
    for (int i = 0; i < tile_rows; ++i) {
      for (int j = 0; j < tile_columns; ++j) sums[i][j] += in_registers[i][j];
    }
  }
};

}  // namespace

void matmul_blocked(const Matmul::Arguments& arguments, Context&) {
  const View<const float> weights = arguments.weights.as<const float>();
  const std::int64_t rows = arguments.x.size(0);
  const std::int64_t columns = weights.size(0);
  const std::int64_t depth = arguments.x.size(1);
  for (std::int64_t n0 = 0; n0 < columns; n0 += blocked_columns) {
    const std::int64_t n_end = std::min(n0 + blocked_columns, columns);
    std::int64_t k0 = 0;
    do {  // once even where the depth is 0: the outputs must be written
      const BlockedTile tile{arguments.x, weights, k0, std::min(k0 + blocked_depth, depth)};
      for (std::int64_t m = 0; m < rows; m += tile_rows) {
        for (std::int64_t n = n0; n < n_end; n += tile_columns) {
          TileSums sums = {};
          tile.add(m, n, sums);
          for (std::int64_t i = m; i < std::min(m + tile_rows, rows); ++i) {
            for (std::int64_t j = n; j < std::min(n + tile_columns, n_end); ++j) {
              float& y = arguments.y(i, j);
              const float start = k0 > 0 ? y : is_present(arguments.bias) ? arguments.bias(j) : 0.0f;
              y = start + sums[i - m][j - n];
            }
          }
        }
      }
      k0 += blocked_depth;
    } while (k0 < depth);
  }
}

}  // namespace ingot
