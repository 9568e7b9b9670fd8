// Vector block-sparse product: each block row is a short list of dense strips, each a dot product with its piece of x.
#include "kernels/linear/sparse/block_sparse_matmul.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/sparse/block_sparse_matmul_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/linear/instructions/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void block_sparse_matmul(const BlockSparseMatmul::Arguments& a, Context& context) {
  const std::int64_t height = a.values.size(1);
  const std::int64_t width = a.values.size(2);
  const std::int64_t rows = a.x.size(0);
  const std::int64_t block_rows = a.row_offsets.size(0) - 1;
  const std::int64_t chunk = rows_per_chunk(a.x.size(1) * height * static_cast<std::int64_t>(sizeof(float)));
  context.workers.for_chunks(block_rows, chunk, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t block_row = begin; block_row < end; ++block_row) {
      for (std::int64_t m = 0; m < rows; ++m) {
        const float* x = a.x.data() + m * a.x.stride(0);
        for (std::int64_t i = 0; i < height; ++i) {
          const std::int64_t n = block_row * height + i;
          float sum = is_present(a.bias) ? a.bias(n) : 0.0f;
          for (std::int64_t s = a.row_offsets(block_row); s < a.row_offsets(block_row + 1); ++s) {
            sum += dot(x + a.block_columns(s) * width, a.values.data() + (s * height + i) * width, width);
          }
          a.y(m, n) = sum;
        }
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<BlockSparseMatmul> block_sparse_matmul_simd = INGOT_SIMD_ENTRIES(block_sparse_matmul);
}  // namespace ingot
#endif
