#include "kernels/linear/matmul/matmul_run.h"

#include <algorithm>

namespace ingot {

Gemm gemm_of(const Matmul::Arguments& a) {
  return {.rows = a.y.size(0),
          .columns = a.y.size(1),
          .depth = a.shape()[1],
          .left = gemm_operand(a.shaped_x(), 0, 1),
          .right = gemm_operand(a.weights, 0, 1),
          .out = a.y.data(),
          .out_stride = a.y.stride(0),
          .bias = a.bias.data(),
          .coded = a.coded()};
}

// dx[m,k] = sum_n dy[m,n] W[n,k]: the depth is n.
Gemm gemm_of(const MatmulBackwardInput::Arguments& a) {
  return {.rows = a.dx.size(0),
          .columns = a.dx.size(1),
          .depth = a.dy.size(1),
          .left = gemm_operand(a.dy, 0, 1),
          .right = gemm_operand(a.weights, 1, 0),
          .out = a.dx.data(),
          .out_stride = a.dx.stride(0)};
}

// dW[n,k] = sum_m dy[m,n] x[m,k]: the depth is m.
Gemm gemm_of(const MatmulBackwardWeight::Arguments& a) {
  return {.rows = a.dweights.size(0),
          .columns = a.dweights.size(1),
          .depth = a.x.size(0),
          .left = gemm_operand(a.dy, 1, 0),
          .right = gemm_operand(a.x, 1, 0),
          .out = a.dweights.data(),
          .out_stride = a.dweights.stride(0)};
}

std::size_t packed_scratch_bytes(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType weight_type) {
  return gemm_scratch_bytes(columns, depth) + rounded_scratch_bytes(rows, depth, weight_type);
}

Gemm with_rounded_activations(Gemm gemm, RoundFunction round, Workers* workers, std::byte* scratch) {
  if (!rounds_activations(gemm.right.dtype)) return gemm;
  auto* rounded = reinterpret_cast<float*>(scratch);
  auto round_rows = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      if (gemm.coded.is_given()) {
        decode_activations(gemm.coded, row, rounded + row * gemm.depth, gemm.depth, block_elements(gemm.right.dtype));
        continue;
      }
      const auto* x = reinterpret_cast<const float*>(gemm.left.data + row * gemm.left.width_stride);
      if (is_block_format(gemm.right.dtype)) {
        round_to_codes(x, rounded + row * gemm.depth, gemm.depth, block_elements(gemm.right.dtype));
      } else {
        round(gemm.right.dtype, x, rounded + row * gemm.depth, gemm.depth);
      }
    }
  };
  if (workers == nullptr) {
    round_rows(0, gemm.rows, 0);
  } else {
    workers->for_chunks(gemm.rows, 1, round_rows);
  }
  const View<const float> view(rounded, {gemm.rows, gemm.depth});
  gemm.left = gemm_operand(view, 0, 1);
  return gemm;
}

}  // namespace ingot
