// Products with stored weights on a device, in two parts as on the host: x is prepared once for weights of a kind, then
// multiplied by any number of them. Both parts only put launches into a queue.
#pragma once

#include <array>
#include <optional>

#include "kernels/linear/cuda/product_cuda.h"
#include "kernels/linear/fused/fused_products.h"
#include "kernels/linear/matmul/matmul.h"

namespace ingot {

// What x becomes before it meets weights of a type: `codes` for blocks as they are stored, `plain_codes` for planes.
enum class PreparedKind : std::uint8_t { floats, bf16, halves, codes_32, codes_256, plain_codes_32, plain_codes_256 };
PreparedKind prepared_kind(DType weight_type, WeightLayout layout);

// Of rows of x in scratch, aligned to 256 bytes. A product that takes x as it is (below) reads nothing of it.
std::size_t prepared_x_bytes(PreparedKind kind, std::int64_t rows, std::int64_t depth);
void enqueue_preparation(const ProductInput& input, PreparedKind kind, std::byte* prepared, Queue& queue);

// y of x and weights. `product.weights` and what follows from them are those of the view; of the input x is read where
// the weights are f32, and given codes where they lie in planes.
void enqueue_product(const DeviceProduct& product, DType weight_type, const ProductInput& input,
                     const std::byte* prepared, Queue& queue);

// Several products of one x in one launch, where tokens are few and all weights stream: side by side, or with a curve
// behind the first and the second as its factor.
struct JointProducts {
  std::array<DeviceProduct, 3> parts;
  std::array<DType, 3> types;
  std::uint32_t count = 0;
  std::optional<FusedCurve> curve;
};
// Whether they can be launched together without a preparation: one token, which blocks prepare for themselves.
bool takes_x_as_it_is(const JointProducts& products, const ProductInput& input);
// False: nothing was launched, they do not go together.
bool enqueue_together(const JointProducts& products, const ProductInput& input, const std::byte* prepared,
                      Queue& queue);

// y[i] = x[i] W[i]^T for views of three axes: batch, rows, depth; a batch axis of size 1 is shared.
void enqueue_batched(const View<const float>& x, const View<const float>& weights, const View<float>& y, Queue& queue);

// Whether device products count far enough for it.
bool fits_device_product(const ProductInput& input, const ConstAnyView& weights);
bool fits_device_batch(const View<const float>& x, const View<const float>& weights, const View<float>& y);

}  // namespace ingot
