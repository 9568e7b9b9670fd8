#include "kernels/linear/cuda/products_cuda.h"
#include "kernels/linear/grouped/matmul_grouped.h"

namespace ingot {
namespace {

ProductInput input_of(const MatmulGrouped::Arguments& a) {
  ProductInput input;
  input.x = a.x;
  input.layout = a.layout;
  return input;
}

bool fits_device_product(const MatmulGrouped::Arguments& a) { return fits_device_product(input_of(a), a.weights); }

std::size_t scratch_bytes(const MatmulGrouped::Arguments& a, int) {
  return prepared_x_bytes(prepared_kind(a.weights.dtype(), a.layout), a.x.size(0), a.x.size(1));
}

// Which rows an expert has is in the offsets, which the device reads.
void run_grouped(const MatmulGrouped::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  std::byte* const prepared = context.scratch.data();
  const ProductInput input = input_of(a);
  const DType type = a.weights.dtype();
  const DeviceProduct product = {.weights = a.weights.data(),
                                 .row_bytes = a.weights.byte_stride(1),
                                 .expert_bytes = a.weights.byte_stride(0),
                                 .offsets = a.offsets.data(),
                                 .offsets_stride = a.offsets.stride(0),
                                 .experts = static_cast<std::uint32_t>(a.weights.size(0)),
                                 .rows = static_cast<std::uint32_t>(a.x.size(0)),
                                 .columns = static_cast<std::uint32_t>(a.weights.size(1)),
                                 .depth = static_cast<std::uint32_t>(a.x.size(1)),
                                 .bias = nullptr,
                                 .y = a.y.data(),
                                 .y_stride = a.y.stride(0)};
  if (!takes_x_as_it_is({.parts = {product}, .types = {type}, .count = 1, .curve = {}}, input)) {
    enqueue_preparation(input, prepared_kind(type, a.layout), prepared, *context.queue);
  }
  enqueue_product(product, type, input, prepared, *context.queue);
}

}  // namespace

Variant<MatmulGrouped> matmul_grouped_cuda() {
  return {.name = "cuda",
          .needs = {Feature::sm_80},
          .run = run_grouped,
          .accepts = [](const MatmulGrouped::Arguments& a) { return is_present(a.offsets) && fits_device_product(a); },
          .scratch_bytes = scratch_bytes,
          .device_function = product_device_function};
}

}  // namespace ingot
