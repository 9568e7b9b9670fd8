#include "kernels/linear/batched/matmul_batched_run.h"

#include <algorithm>

namespace ingot {
namespace {

// The transposed product: out^T = right^T left^T.
BatchedProduct transposed(const BatchedProduct& product) {
  return {with_transpose(product.right, true), with_transpose(product.left, true), with_transpose(product.out, true),
          product.batches};
}

// The packed product writes rows of neighbours; where a gradient is stored transposed, its transpose is computed.
BatchedProduct stored_as(const BatchedProduct& product, bool transpose) {
  return transpose ? transposed(product) : product;
}

}  // namespace

BatchedProduct product_of(const MatmulBatched::Arguments& a) {
  return {with_transpose(a.a, a.transpose_a), with_transpose(a.b, a.transpose_b), a.y, a.y.size(0)};
}

// d op(a) = dy op(b)^T
BatchedProduct product_for_a(const MatmulBatchedBackward::Arguments& a) {
  return stored_as({with_transpose(a.dy, false), with_transpose(a.b, !a.transpose_b),
                    with_transpose(a.da, a.transpose_a), a.dy.size(0)},
                   a.transpose_a);
}

// d op(b) = op(a)^T dy
BatchedProduct product_for_b(const MatmulBatchedBackward::Arguments& a) {
  return stored_as({with_transpose(a.a, !a.transpose_a), with_transpose(a.dy, false),
                    with_transpose(a.db, a.transpose_b), a.dy.size(0)},
                   a.transpose_b);
}

Gemm BatchedProduct::gemm(std::int64_t index, std::int64_t term) const {
  const std::int64_t batch = outputs() == 1 ? term : index;
  Gemm one{.rows = out.size(1),
           .columns = out.size(2),
           .depth = left.size(2),
           .left = gemm_operand(left, 1, 2),
           .right = gemm_operand(right, 2, 1),
           .out = out.data() + index * out.stride(0),
           .out_stride = out.stride(1),
           .start = term == 0 ? GemmStart::fresh : GemmStart::accumulate};
  one.left.data += batch * left.stride(0) * static_cast<std::int64_t>(sizeof(float));
  one.right.data += batch * right.stride(0) * static_cast<std::int64_t>(sizeof(float));
  if (batches == 0) one.depth = 0;  // a sum over no products: zeros
  return one;
}

bool BatchedProduct::takes_whole_products() const {
  // Two million multiply-adds take some 50 us, enough to hide the three fork-joins of a shared product.
  const double work =
      static_cast<double>(out.size(1)) * static_cast<double>(out.size(2)) * static_cast<double>(left.size(2));
  return outputs() > 1 && work < 2e6;
}

std::size_t BatchedProduct::scratch_bytes(int threads) const {
  const std::size_t one = gemm_scratch_bytes(out.size(2), left.size(2));
  return takes_whole_products() ? one * static_cast<std::size_t>(threads) : one;
}

std::size_t batched_scratch(const MatmulBatched::Arguments& arguments, int threads) {
  return product_of(arguments).scratch_bytes(threads);
}

std::size_t batched_backward_scratch(const MatmulBatchedBackward::Arguments& arguments, int threads) {
  std::size_t bytes = 0;
  if (is_present(arguments.da)) bytes = std::max(bytes, product_for_a(arguments).scratch_bytes(threads));
  if (is_present(arguments.db)) bytes = std::max(bytes, product_for_b(arguments).scratch_bytes(threads));
  return bytes;
}

void run_batched(const BatchedProduct& product, GemmFunction threaded, SerialGemmFunction serial, Context& context) {
  std::byte* scratch = context.scratch.data();
  if (product.takes_whole_products()) {
    const std::size_t bytes = product.scratch_bytes(1);
    context.workers.for_chunks(product.outputs(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
      for (std::int64_t index = begin; index < end; ++index) {
        serial(product.gemm(index, 0), scratch + static_cast<std::size_t>(worker) * bytes);
      }
    });
    return;
  }
  for (std::int64_t index = 0; index < product.outputs(); ++index) {
    for (std::int64_t term = 0; term < std::max<std::int64_t>(product.terms(), 1); ++term) {
      threaded(product.gemm(index, term), context.workers, scratch);
    }
  }
}

}  // namespace ingot
