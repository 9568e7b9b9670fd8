#include "kernels/device/windows.h"
#include "kernels/linear/batched/matmul_batched.h"
#include "kernels/linear/cuda/products_cuda.h"

namespace ingot {
namespace {

// Columns of op(b) are what weights are to a product: rows of its transpose.
void run_batched_on_device(const MatmulBatched::Arguments& a, Context& context) {
  enqueue_batched(with_transpose(a.a, a.transpose_a), with_transpose(a.b, !a.transpose_b), a.y, *context.queue);
}

}  // namespace

Variant<MatmulBatched> matmul_batched_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_batched_on_device,
          .accepts = [](const MatmulBatched::Arguments& a) { return fits_device_batch(a.a, a.b, a.y); },
          .device_function = product_device_function};
}

}  // namespace ingot
