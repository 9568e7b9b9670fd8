// How batched products become packed ones, for each vector target.
#pragma once

#include "kernels/linear/batched/matmul_batched.h"
#include "kernels/linear/ways/floats/gemm.h"

namespace ingot {

// out[i] = sum_j left[j] right[j]: j = i, or the whole batch where `out` was shared by it. Operands are already
// transposed (see with_transpose).
struct BatchedProduct {
  View<const float> left;   // [I or 1, M, K]
  View<const float> right;  // [I or 1, K, N]
  View<float> out;          // [I or 1, M, N], packed rows
  std::int64_t batches;

  std::int64_t outputs() const { return out.size(0); }
  std::int64_t terms() const { return outputs() == 1 ? batches : 1; }
  // Term `term` of output `index`; the first one overwrites.
  Gemm gemm(std::int64_t index, std::int64_t term) const;
  std::size_t scratch_bytes(int threads) const;
  // Where single products are too small to be worth sharing, threads take whole products instead.
  bool takes_whole_products() const;
};

BatchedProduct product_of(const MatmulBatched::Arguments& arguments);
BatchedProduct product_for_a(const MatmulBatchedBackward::Arguments& arguments);
BatchedProduct product_for_b(const MatmulBatchedBackward::Arguments& arguments);

std::size_t batched_scratch(const MatmulBatched::Arguments& arguments, int threads);
std::size_t batched_backward_scratch(const MatmulBatchedBackward::Arguments& arguments, int threads);

void run_batched(const BatchedProduct& product, GemmFunction threaded, SerialGemmFunction serial, Context& context);

template <SimdTarget target>
void batched_product(const MatmulBatched::Arguments& arguments, Context& context) {
  run_batched(product_of(arguments), gemm_threaded[target], gemm_serial[target], context);
}

template <SimdTarget target>
void batched_backward(const MatmulBatchedBackward::Arguments& arguments, Context& context) {
  if (is_present(arguments.da)) {
    run_batched(product_for_a(arguments), gemm_threaded[target], gemm_serial[target], context);
  }
  if (is_present(arguments.db)) {
    run_batched(product_for_b(arguments), gemm_threaded[target], gemm_serial[target], context);
  }
}

}  // namespace ingot
