#include "kernels/linear/ways/floats/gemm.h"

#include <algorithm>

#include "base/units.h"
#include "kernels/contract/context.h"
#include "machine/caches.h"

namespace ingot {

GemmOperand gemm_operand(const ConstAnyView& view, int width_axis, int depth_axis) {
  GemmOperand operand{view.data(), view.dtype(), view.byte_stride(width_axis), view.byte_stride(depth_axis),
                      PackedAxis::neither};
  if (is_block_format(view.dtype())) {
    operand.packed = depth_axis == view.rank() - 1 ? PackedAxis::depth : PackedAxis::width;
    return operand;
  }
  // An axis of one element may have any stride. A depth of one is best read along the width.
  const std::int64_t element = block_bytes(view.dtype());
  const bool along_depth = operand.depth_stride == element || view.size(depth_axis) <= 1;
  const bool along_width = operand.width_stride == element || view.size(width_axis) <= 1;
  if (along_depth && (view.size(depth_axis) > 1 || !along_width)) {
    operand.packed = PackedAxis::depth;
  } else if (along_width) {
    operand.packed = PackedAxis::width;
  }
  return operand;
}

std::int64_t gemm_columns_in_cache() {
  static const std::int64_t columns = [] {
    std::uint64_t bytes = 1 << 20;  // where the machine does not say
    for (const Cache& cache : detect_caches()) {
      if (cache.level == 2 && cache.size.count() > 0) bytes = cache.size.count();
    }
    return static_cast<std::int64_t>(bytes / 2 / (gemm_depth_block * sizeof(float)));
  }();
  return columns;
}

std::size_t gemm_scratch_bytes(std::int64_t columns, std::int64_t depth) {
  // Whole panels, as wide as any target's, and what the assembly of a tile reads past them.
  const std::int64_t padded = divide_rounding_up(std::min(columns, gemm_column_block), 48) * 48;
  const std::int64_t deep = std::min(align_up(static_cast<std::uint64_t>(std::max<std::int64_t>(depth, 1)), 32),
                                     static_cast<std::uint64_t>(gemm_depth_block));
  return static_cast<std::size_t>(padded * deep) * sizeof(float) + 64;
}

std::size_t codes_scratch_bytes(std::int64_t rows, std::int64_t depth) {
  // A float scale a block of 32 at the least, a float sum a group of 16, a byte a code.
  return static_cast<std::size_t>(rows * (depth / 32 * 4 + depth / 16 * 4 + depth));
}

std::size_t halves_scratch_bytes(std::int64_t rows, std::int64_t depth) {
  // Scales of as many rows as there may be, then rows of whole vectors of eight.
  return float_dot_rows * sizeof(float) + static_cast<std::size_t>(rows * divide_rounding_up(depth, 8) * 8) * 2;
}

std::int64_t dot_chunk_columns(const DotProduct& product, const Gemm& gemm) {
  constexpr std::int64_t enough_chunks = 16;  // for threads to end together
  constexpr std::int64_t fair = 2;            // fewer are a multiple of this: two threads get as many each
  const std::int64_t bytes = row_bytes(gemm.right.dtype, gemm.depth);
  const std::int64_t most = rows_per_chunk(bytes, product.chunk_bytes);
  // Where long streams are read fastest, a small matrix is worth longer ones as well.
  const std::int64_t least = std::max(std::min(rows_per_chunk(bytes), most), most / 4);
  std::int64_t rows = std::clamp(gemm.columns / enough_chunks, least, most);
  if (gemm.columns > 0 && rows * enough_chunks > gemm.columns) {
    const std::int64_t chunks = divide_rounding_up(divide_rounding_up(gemm.columns, rows), fair) * fair;
    rows = divide_rounding_up(gemm.columns, chunks);
  }
  return divide_rounding_up(rows, dot_granule) * dot_granule;
}

void run_dot(const DotProduct& product, const Gemm& gemm, Workers& workers, std::byte* scratch) {
  if (gemm.rows == 0) return;
  if (product.encode != nullptr) product.encode(gemm, scratch);
  workers.for_chunks(gemm.columns, dot_chunk_columns(product, gemm),
                     [&](std::int64_t begin, std::int64_t end, int) { product.columns(gemm, scratch, begin, end); });
}

}  // namespace ingot
