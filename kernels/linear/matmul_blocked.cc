// The step of the ladder between the reference and the vector variants: plain C++, one thread, no packing. It shows
// what blocking alone is worth: a block of weights is read from cache once per row instead of from memory, and a tile
// of four by four outputs in registers uses every loaded number four times.
#include <algorithm>

#include "kernels/linear/matmul.h"

namespace ingot {
namespace {

constexpr std::int64_t blocked_columns = 64;  // 64 x 512 weights are 128 KiB: they stay in the second-level cache
constexpr std::int64_t blocked_depth = 512;
constexpr std::int64_t blocked_tile = 4;

struct BlockedTile {
  const View<const float>& x;
  const View<const float>& weights;
  std::int64_t begin, end;  // of the depth

  // sums[i][j] += sum_k x[m+i,k] weights[n+j,k]; rows past the edge repeat the last one and are not stored.
  void add(std::int64_t m, std::int64_t n, float (&sums)[blocked_tile][blocked_tile]) const {
    const float* left[blocked_tile];
    const float* right[blocked_tile];
    for (std::int64_t i = 0; i < blocked_tile; ++i) {
      left[i] = &x(std::min(m + i, x.size(0) - 1), 0);
      right[i] = &weights(std::min(n + i, weights.size(0) - 1), 0);
    }
    for (std::int64_t k = begin; k < end; ++k) {
      for (int i = 0; i < blocked_tile; ++i) {
        for (int j = 0; j < blocked_tile; ++j) sums[i][j] += left[i][k] * right[j][k];
      }
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
      for (std::int64_t m = 0; m < rows; m += blocked_tile) {
        for (std::int64_t n = n0; n < n_end; n += blocked_tile) {
          float sums[blocked_tile][blocked_tile] = {};
          tile.add(m, n, sums);
          for (std::int64_t i = m; i < std::min(m + blocked_tile, rows); ++i) {
            for (std::int64_t j = n; j < std::min(n + blocked_tile, n_end); ++j) {
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
