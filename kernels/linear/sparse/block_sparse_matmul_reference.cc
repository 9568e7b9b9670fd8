// Scalar truth, in double.
#include <vector>

#include "kernels/linear/sparse/block_sparse_matmul.h"

namespace ingot {
namespace {

// Calls visit(n, k, value index s, i, j) for every kept weight.
template <class Arguments, class Visit>
void for_each_kept_weight(const Arguments& a, Visit&& visit) {
  const std::int64_t height = a.values.size(1);
  const std::int64_t width = a.values.size(2);
  for (std::int64_t block_row = 0; block_row + 1 < a.row_offsets.size(0); ++block_row) {
    for (std::int64_t s = a.row_offsets(block_row); s < a.row_offsets(block_row + 1); ++s) {
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          visit(block_row * height + i, a.block_columns(s) * width + j, s, i, j);
        }
      }
    }
  }
}

}  // namespace

void block_sparse_matmul_reference(const BlockSparseMatmul::Arguments& a, Context&) {
  const std::int64_t outputs = a.y.size(1);
  std::vector<double> sums(static_cast<std::size_t>(outputs));
  for (std::int64_t m = 0; m < a.x.size(0); ++m) {
    for (std::int64_t n = 0; n < outputs; ++n)
      sums[static_cast<std::size_t>(n)] = is_present(a.bias) ? a.bias(n) : 0.0f;
    for_each_kept_weight(a, [&](std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t i, std::int64_t j) {
      sums[static_cast<std::size_t>(n)] += double{a.x(m, k)} * a.values(s, i, j);
    });
    for (std::int64_t n = 0; n < outputs; ++n) a.y(m, n) = static_cast<float>(sums[static_cast<std::size_t>(n)]);
  }
}

void block_sparse_matmul_backward_reference(const BlockSparseMatmulBackward::Arguments& a, Context&) {
  const std::int64_t rows = a.x.size(0);
  std::vector<double> sums(static_cast<std::size_t>(a.x.size(1)));
  for (std::int64_t m = 0; is_present(a.dx) && m < rows; ++m) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for_each_kept_weight(a, [&](std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t i, std::int64_t j) {
      sums[static_cast<std::size_t>(k)] += double{a.dy(m, n)} * a.values(s, i, j);
    });
    for (std::int64_t k = 0; k < a.x.size(1); ++k) a.dx(m, k) = static_cast<float>(sums[static_cast<std::size_t>(k)]);
  }
  if (is_present(a.dvalues)) {
    for_each_kept_weight(a, [&](std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t m = 0; m < rows; ++m) sum += double{a.dy(m, n)} * a.x(m, k);
      a.dvalues(s, i, j) = static_cast<float>(sum);
    });
  }
  for (std::int64_t n = 0; is_present(a.dbias) && n < a.dy.size(1); ++n) {
    double sum = 0;
    for (std::int64_t m = 0; m < rows; ++m) sum += a.dy(m, n);
    a.dbias(n) = static_cast<float>(sum);
  }
}

}  // namespace ingot
