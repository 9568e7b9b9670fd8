// A product with block-sparse weights: whole P x Q blocks of the weight matrix are kept or absent (compressed rows).
//
//   block row r holds blocks s in [row_offsets[r], row_offsets[r+1]), each at block column block_columns[s]:
//   W[rP + i, block_columns[s] Q + j] = values[s, i, j],  0 elsewhere
//   y[m,n] = sum_k x[m,k] W[n,k] + bias[n]
//
// C1  x is [M, K] with packed rows
// C2  values are [S, P, Q], contiguous, with P >= 1, Q >= 1 and K a multiple of Q
// C3  row_offsets are [N/P + 1], start at 0, never fall, and end at S
// C4  block_columns are [S], in [0, K/Q), rising within a block row
// C5  bias, where given, is [N]; y is [M, N] with N a multiple of P; both with packed rows
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct BlockSparseMatmul {
  static constexpr std::string_view name = "linear.block_sparse_matmul";
  static constexpr std::string_view equation = "y[m,n] = sum_k x[m,k] W[n,k] + bias[n], W of kept P x Q blocks";
  static constexpr Backward backward = Backward::by("linear.block_sparse_matmul_backward");

  struct Arguments {
    View<const float> x;
    View<const float> values;
    View<const std::int32_t> row_offsets;
    View<const std::int32_t> block_columns;
    View<const float> bias;
    View<float> y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::values, "values"),
                        weight(&Arguments::row_offsets, "row_offsets"),
                        weight(&Arguments::block_columns, "block_columns"), optional_weight(&Arguments::bias, "bias"),
                        output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<BlockSparseMatmul>> variants();
  static void cases(CaseList<BlockSparseMatmul>& list);
};

void block_sparse_matmul_reference(const BlockSparseMatmul::Arguments& arguments, Context& context);
extern const SimdEntries<BlockSparseMatmul> block_sparse_matmul_simd;
extern const Variant<BlockSparseMatmul> block_sparse_matmul_cuda;

// dx = dy W;  dvalues = the kept blocks of dy^T x;  dbias[n] = sum_m dy[m,n]
// C1 to C4 as the forward; C5: dy is [M, N]; gradients, where given, have the shape of what they are gradients of.
struct BlockSparseMatmulBackward {
  static constexpr std::string_view name = "linear.block_sparse_matmul_backward";
  static constexpr std::string_view equation = "dx = dy W, dvalues = kept blocks of dy^T x, dbias[n] = sum_m dy[m,n]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> x;
    View<const float> values;
    View<const std::int32_t> row_offsets;
    View<const std::int32_t> block_columns;
    View<const float> dy;
    View<float> dx;
    View<float> dvalues;
    View<float> dbias;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), weight(&Arguments::values, "values"),
                        weight(&Arguments::row_offsets, "row_offsets"),
                        weight(&Arguments::block_columns, "block_columns"), input(&Arguments::dy, "dy"),
                        optional_output(&Arguments::dx, "dx"), optional_output(&Arguments::dvalues, "dvalues"),
                        optional_output(&Arguments::dbias, "dbias"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<BlockSparseMatmulBackward>> variants();
  static void cases(CaseList<BlockSparseMatmulBackward>& list);
};

void block_sparse_matmul_backward_reference(const BlockSparseMatmulBackward::Arguments& arguments, Context& context);

}  // namespace ingot
