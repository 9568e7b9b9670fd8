#include "kernels/linear/sparse/block_sparse_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/sparse/block_sparse_matmul_cases.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

// C3 and C4, of what lies in the host's memory.
template <class Op>
Result<void> check_places(const typename Op::Arguments& a, std::int64_t block_rows, std::int64_t block_columns) {
  const std::int64_t kept = a.values.size(0);
  for (std::int64_t row = 0; row <= block_rows; ++row) {
    const std::int64_t lowest = row == 0 ? 0 : a.row_offsets(row - 1);
    const std::int64_t highest = row == 0 ? 0 : kept;
    if (a.row_offsets(row) < lowest || a.row_offsets(row) > highest ||
        (row == block_rows && a.row_offsets(row) != kept)) {
      return violated(Op::name, "C3", "expected offsets that rise from 0 to ", kept, ", found ", a.row_offsets(row),
                      " at ", row);
    }
  }
  for (std::int64_t row = 0; row < block_rows; ++row) {
    for (std::int64_t s = a.row_offsets(row); s < a.row_offsets(row + 1); ++s) {
      const std::int64_t lowest = s == a.row_offsets(row) ? 0 : a.block_columns(s - 1) + std::int64_t{1};
      if (a.block_columns(s) < lowest || a.block_columns(s) >= block_columns) {
        return violated(Op::name, "C4", "expected rising block columns in [", lowest, ", ", block_columns, "), found ",
                        a.block_columns(s), " at ", s);
      }
    }
  }
  return {};
}

// C1 to C4 of both directions; `y` is the output or its gradient, whose width is N.
template <class Op>
Result<void> check_block_sparse(const typename Op::Arguments& a, std::string_view y_field, const ConstAnyView& y) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 2));
  TRY(require_contiguous_rows(Op::name, "C1", "x", a.x));
  TRY(require_rank(Op::name, "C2", "values", a.values, 3));
  TRY(require_contiguous(Op::name, "C2", "values", a.values));
  const std::int64_t height = a.values.size(1);
  const std::int64_t width = a.values.size(2);
  if (height < 1 || width < 1 || a.x.size(1) % width != 0) {
    return violated(Op::name, "C2", "expected blocks of 1 or more whose width divides ", a.x.size(1), ", found values ",
                    a.values.shape());
  }
  TRY(require_rank(Op::name, "C5", y_field, y, 2));
  if (y.size(1) % height != 0) {
    return violated(Op::name, "C5", "expected a multiple of ", height, " outputs, found ", y_field, " ", y.shape());
  }
  TRY(require_packed(Op::name, "C5", y_field, y, {a.x.size(0), y.size(1)}));
  const std::int64_t block_rows = y.size(1) / height;
  TRY(require_shape(Op::name, "C3", "row_offsets", a.row_offsets, {block_rows + 1}));
  TRY(require_shape(Op::name, "C4", "block_columns", a.block_columns, {a.values.size(0)}));
  const bool is_host = a.row_offsets.place().is_host() && a.block_columns.place().is_host();
  return is_host ? check_places<Op>(a, block_rows, a.x.size(1) / width) : Result<void>();
}

}  // namespace

Result<void> BlockSparseMatmul::check(const Arguments& a) {
  TRY(check_block_sparse<BlockSparseMatmul>(a, "y", a.y));
  if (is_present(a.bias)) TRY(require_packed(name, "C5", "bias", a.bias, {a.y.size(1)}));
  return {};
}

Cost BlockSparseMatmul::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.x.size(0)) * static_cast<double>(a.values.count()),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.values),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance BlockSparseMatmul::tolerance(const Arguments& a) { return sum_tolerance(a.x.size(1) + 1, a.x, a.values); }

std::span<const Variant<BlockSparseMatmul>> BlockSparseMatmul::variants() {
  static const Variant<BlockSparseMatmul> table[] = {
      block_sparse_matmul_cuda,
      INGOT_SIMD_ROWS(block_sparse_matmul_simd),
      {"reference", {}, block_sparse_matmul_reference},
  };
  return table;
}

Result<void> BlockSparseMatmulBackward::check(const Arguments& a) {
  TRY(check_block_sparse<BlockSparseMatmulBackward>(a, "dy", a.dy));
  if (is_present(a.dx)) TRY(require_packed(name, "C5", "dx", a.dx, a.x.shape()));
  if (is_present(a.dvalues)) {
    TRY(require_shape(name, "C5", "dvalues", a.dvalues, a.values.shape()));
    TRY(require_contiguous(name, "C5", "dvalues", a.dvalues));
  }
  if (is_present(a.dbias)) TRY(require_packed(name, "C5", "dbias", a.dbias, {a.dy.size(1)}));
  return {};
}

Cost BlockSparseMatmulBackward::cost(const Arguments& a) {
  return {.operations = 4.0 * static_cast<double>(a.x.size(0)) * static_cast<double>(a.values.count()),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.values) + stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.x) + stored_bytes(a.values)};
}

Tolerance BlockSparseMatmulBackward::tolerance(const Arguments& a) {
  return sum_tolerance(std::max(a.dy.size(1), a.x.size(0)), a.dy, a.values);
}

std::span<const Variant<BlockSparseMatmulBackward>> BlockSparseMatmulBackward::variants() {
  static const Variant<BlockSparseMatmulBackward> table[] = {{"reference", {}, block_sparse_matmul_backward_reference}};
  return table;
}

template const Operation& describe_operation<BlockSparseMatmul>();
template const Operation& describe_operation<BlockSparseMatmulBackward>();

}  // namespace ingot
