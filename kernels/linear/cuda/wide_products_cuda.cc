// Launches of products of many tokens with weights of 16 bits (kernels/linear/cuda/wide_products.h): all parts of a
// fused form in one, with the curve behind them.
#include "kernels/linear/cuda/wide_products_cuda.h"
#include "kernels/device/windows.h"
#include "kernels/linear/cuda/fused_products_cuda.h"
#include "kernels/linear/cuda/product_launches.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(wide_products_cuda);
INGOT_DEVICE_FUNCTION_OF(wide_products_cuda, multiply_wide_f16);
INGOT_DEVICE_FUNCTION_OF(wide_products_cuda, multiply_wide_bf16);

// Up to so many fill one tile of the frame of many tokens (kernels/linear/cuda/tiled.h), and half of one here.
constexpr std::int64_t most_narrow_tokens = 64;
// Bytes from row to row: a block counts those to its rows in 32 bits.
constexpr std::int64_t most_row_bytes = std::int64_t{1} << 24;

// Tiles of a block's rows up to the end of each part.
std::uint32_t set_ends(StreamedParts& joined, std::uint32_t count) {
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t tiles = blocks_for(joined.parts[i].columns, wide_rows / (joined.is_gated ? 2 : 1));
    end = joined.has_curve ? tiles : end + tiles;
    joined.ends[i] = end;
  }
  return end;
}

}  // namespace

const DeviceFunction* const wide_device_function = &multiply_wide_f16_function;

bool can_run_wide(const FusedProducts& products) {
  const Matmul::Arguments& first = products.parts[0];
  const DType type = first.weights.dtype();
  if ((type != DType::f16 && type != DType::bf16) || first.shape()[0] <= most_narrow_tokens) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    const Matmul::Arguments& part = products.parts[i];
    if (part.weights.dtype() != type || !fits_device_product(part, part.weights) || part.weights.empty() ||
        !starts_aligned(device_product(part, part.y)) || part.weights.byte_stride(0) >= most_row_bytes) {
      return false;
    }
  }
  return true;
}

std::size_t wide_scratch_bytes(const FusedProducts& products) {
  const Matmul::Arguments& first = products.parts[0];
  return prepared_x_bytes(prepared_kind(first.weights.dtype(), first.layout), first.shape()[0], first.shape()[1]);
}

void run_wide(const FusedProducts& products, Context& context) {
  const Matmul::Arguments& first = products.parts[0];
  const PreparedKind kind = prepared_kind(first.weights.dtype(), first.layout);
  std::byte* const prepared = context.scratch.data();
  enqueue_preparation(first, kind, prepared, *context.queue);
  const JointProducts parts = joint_products(products);
  StreamedParts joined = {};
  bool is_grouped = true;
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    joined.parts[i] = parts.parts[i];
    joined.types[i] = parts.types[i];
    const bool is_written = i == 0 || !parts.curve.has_value();
    is_grouped = is_grouped && (!is_written || groups_are_aligned(products.parts[i].y));
  }
  joined.has_curve = parts.curve.has_value();
  joined.is_gated = products.has_factor();
  joined.curve = parts.curve.has_value() ? static_cast<std::uint8_t>(*parts.curve) : std::uint8_t{0};
  const std::uint32_t row_tiles = set_ends(joined, parts.count);
  const RoundedPlace place(kind, parts.parts[0].rows, parts.parts[0].depth);
  const bool has_scales = kind == PreparedKind::halves;
  context.queue->launch(
      has_scales ? multiply_wide_f16_function : multiply_wide_bf16_function,
      {.blocks = row_tiles * blocks_for(parts.parts[0].rows, wide_tokens),
       .threads = wide_threads,
       .shared_bytes = wide_shared_bytes},
      WideProducts{.joined = joined,
                   .row_tiles = row_tiles,
                   .x = reinterpret_cast<const std::uint16_t*>(prepared),
                   .x_stride = static_cast<std::uint32_t>(place.stride),
                   .from_halves = has_scales ? reinterpret_cast<const float*>(prepared + place.scales) : nullptr,
                   .is_grouped = is_grouped});
}

}  // namespace ingot
