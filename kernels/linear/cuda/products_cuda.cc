#include "kernels/linear/cuda/products_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/cuda/block_products_cuda.h"
#include "kernels/linear/cuda/float_products_cuda.h"
#include "kernels/linear/cuda/product_launches.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(prepared_x_cuda);
INGOT_DEVICE_FUNCTION_OF(prepared_x_cuda, code_rows);
INGOT_DEVICE_FUNCTION_OF(prepared_x_cuda, round_rows);
INGOT_DEVICE_MODULE(block_products_32_cuda);
INGOT_DEVICE_FUNCTION_OF(block_products_32_cuda, multiply_few_32);
INGOT_DEVICE_FUNCTION_OF(block_products_32_cuda, multiply_many_32);
INGOT_DEVICE_MODULE(block_products_256_cuda);
INGOT_DEVICE_FUNCTION_OF(block_products_256_cuda, multiply_few_256);
INGOT_DEVICE_FUNCTION_OF(block_products_256_cuda, multiply_many_256);
INGOT_DEVICE_MODULE(float_products_cuda);
INGOT_DEVICE_FUNCTION_OF(float_products_cuda, multiply_few_f32);
INGOT_DEVICE_FUNCTION_OF(float_products_cuda, multiply_many_f32);

constexpr std::uint32_t most_blocks_z = 65535;
// Rows of x: an axis has 65,535 blocks of many tokens, of which experts leave some half empty.
constexpr std::int64_t most_product_tokens = std::int64_t{1} << 21;

struct Functions {
  const DeviceFunction& few;
  const DeviceFunction& many;
};

// Products by matrix instructions: the frame of kernels/linear/cuda/products.h.
void launch_blocks(const Functions& functions, const BlockProducts& parameters, Queue& queue) {
  constexpr std::uint32_t segment_bytes = warp_columns * tile_tokens * sizeof(float);
  constexpr std::uint32_t most_segments = 96;  // in the shared memory that any launch may have
  const DeviceProduct& product = parameters.product;
  const std::uint32_t segments = blocks_for(product.depth, segment_depth);
  if (!has_few_tokens(product) || segments > most_segments) {
    return launch_many(functions.many, product, parameters, queue);
  }
  queue.launch(functions.few,
               {.blocks = blocks_for(product.columns, warp_columns),
                .blocks_y = tiles_for(product, tile_tokens),
                .threads = 32 * std::clamp<std::uint32_t>(segments, 1, 8),
                .shared_bytes = segments * segment_bytes},
               parameters);
}

void launch_floats(FloatProducts parameters, std::uint32_t batches, Queue& queue) {
  const DeviceProduct& product = parameters.product;
  const bool few = has_few_tokens(product);
  const std::uint32_t columns = few ? few_float_columns : many_float_columns;
  const std::uint32_t tokens = few ? few_float_tokens : many_float_tokens;
  for (std::uint32_t first = 0; first < batches; first += most_blocks_z) {
    parameters.first_batch = first;
    queue.launch(few ? multiply_few_f32_function : multiply_many_f32_function,
                 {.blocks = blocks_for(product.columns, columns),
                  .blocks_y = tiles_for(product, tokens),
                  .blocks_z = std::min(batches - first, most_blocks_z),
                  .threads = few ? 128u : 256u},
                 parameters);
  }
}

FloatFactor factor_of(const View<const float>& view) {
  return {view.data(), view.size(0) == 1 ? 0 : view.stride(0), view.stride(1), view.stride(2)};
}

}  // namespace

const DeviceFunction* const product_device_function = &multiply_few_f32_function;

PreparedKind prepared_kind(DType weight_type, WeightLayout layout) {
  using enum PreparedKind;
  switch (weight_type) {
    case DType::f32: return floats;
    case DType::bf16: return bf16;
    case DType::f16: return halves;
    default: break;
  }
  const bool is_32 = block_elements(weight_type) == 32;
  if (layout == WeightLayout::planes16) return is_32 ? plain_codes_32 : plain_codes_256;
  return is_32 ? codes_32 : codes_256;
}

std::size_t prepared_x_bytes(PreparedKind kind, std::int64_t rows, std::int64_t depth) {
  const auto count = static_cast<std::size_t>(rows);
  const auto length = static_cast<std::size_t>(depth);
  if (kind == PreparedKind::floats) return 0;
  if (is_rounded(kind)) return align_up(RoundedPlace(kind, count, length).end, 256);
  if (is_plain(kind)) return align_up(PlainPlace(kind, count, length).end, 256);
  return align_up(CodedPlace(kind, count, length).end, 256);
}

void enqueue_preparation(const ProductInput& input, PreparedKind kind, std::byte* prepared, Queue& queue) {
  const auto rows = static_cast<std::uint32_t>(input.shape()[0]);
  const auto depth = static_cast<std::uint32_t>(input.shape()[1]);
  if (kind == PreparedKind::floats || rows == 0) return;
  if (is_rounded(kind)) {
    const RoundedPlace place(kind, rows, depth);
    const bool has_scales = kind == PreparedKind::halves;
    queue.launch(round_rows_function, {.blocks = rows, .threads = 256},
                 RoundedRows{.x = input.x.data(),
                             .x_stride = input.x.stride(0),
                             .depth = depth,
                             .stride = static_cast<std::uint32_t>(place.stride),
                             .is_aligned = groups_are_aligned(input.x),
                             .rounded = reinterpret_cast<std::uint16_t*>(prepared),
                             .from_halves = has_scales ? reinterpret_cast<float*>(prepared + place.scales) : nullptr});
    return;
  }
  if (depth == 0 || (is_plain(kind) && reads_given_codes(input))) return;
  const std::size_t scales =
      is_plain(kind) ? PlainPlace(kind, rows, depth).scales : CodedPlace(kind, rows, depth).scales;
  std::byte* const sums = is_plain(kind) ? nullptr : prepared + CodedPlace(kind, rows, depth).sums;
  const bool is_32 = kind == PreparedKind::codes_32 || kind == PreparedKind::plain_codes_32;
  const CodedX given = input.coded();
  constexpr std::uint32_t warps = 8;
  queue.launch(code_rows_function, {.blocks = blocks_for(rows * spans_of(depth), warps), .threads = 32 * warps},
               CodedRows{.x = given.is_given() ? nullptr : input.x.data(),
                         .given_codes = given.codes,
                         .given_scales = given.scales,
                         .x_stride = given.is_given() ? 0 : input.x.stride(0),
                         .codes_stride = given.codes_stride,
                         .scales_stride = given.scales_stride,
                         .rows = rows,
                         .depth = depth,
                         .block = is_32 ? 32u : span_elements,
                         .is_aligned = !given.is_given() && groups_are_aligned(input.x),
                         .codes = reinterpret_cast<std::uint32_t*>(prepared),
                         .scales = reinterpret_cast<float*>(prepared + scales),
                         .sums = reinterpret_cast<std::int32_t*>(sums),
                         .is_laid = is_plain(kind) && lays_codes(rows)});
}

void enqueue_product(const DeviceProduct& product, DType weight_type, const ProductInput& input,
                     const std::byte* prepared, Queue& queue) {
  if (product.rows == 0 || product.columns == 0) return;
  const JointProducts alone = {.parts = {product}, .types = {weight_type}, .count = 1, .curve = {}};
  if (enqueue_together(alone, input, prepared, queue)) return;
  const PreparedKind kind = prepared_kind(weight_type, input.layout);
  switch (kind) {
    case PreparedKind::floats: {
      constexpr auto bytes = static_cast<std::int64_t>(sizeof(float));
      launch_floats({.product = product,
                     .x = {input.x.data(), 0, input.x.stride(0), 1},
                     .weights = {reinterpret_cast<const float*>(product.weights), product.expert_bytes / bytes,
                                 product.row_bytes / bytes, 1},
                     .y_batch_stride = 0,
                     .first_batch = 0},
                    1, queue);
      return;
    }
    case PreparedKind::bf16:
    case PreparedKind::halves:
    case PreparedKind::plain_codes_32:
    case PreparedKind::plain_codes_256: return enqueue_tiled(product, weight_type, input, prepared, queue);
    default: {
      const CodedPlace place(kind, product.rows, product.depth);
      const Functions of_32 = {multiply_few_32_function, multiply_many_32_function};
      const Functions of_256 = {multiply_few_256_function, multiply_many_256_function};
      launch_blocks(kind == PreparedKind::codes_32 ? of_32 : of_256,
                    BlockProducts{.product = product,
                                  .type = weight_type,
                                  .block_bytes = static_cast<std::uint32_t>(block_bytes(weight_type)),
                                  .is_interleaved = input.layout == WeightLayout::interleaved8,
                                  .codes = reinterpret_cast<const std::uint32_t*>(prepared),
                                  .scales = reinterpret_cast<const float*>(prepared + place.scales),
                                  .sums = reinterpret_cast<const std::int32_t*>(prepared + place.sums)},
                    queue);
    }
  }
}

void enqueue_batched(const View<const float>& x, const View<const float>& weights, const View<float>& y, Queue& queue) {
  if (y.empty()) return;
  const DeviceProduct product = {.weights = nullptr,
                                 .row_bytes = 0,
                                 .expert_bytes = 0,
                                 .offsets = nullptr,
                                 .offsets_stride = 0,
                                 .experts = 1,
                                 .rows = static_cast<std::uint32_t>(y.size(1)),
                                 .columns = static_cast<std::uint32_t>(y.size(2)),
                                 .depth = static_cast<std::uint32_t>(x.size(2)),
                                 .bias = nullptr,
                                 .y = y.data(),
                                 .y_stride = y.stride(1)};
  launch_floats({.product = product,
                 .x = factor_of(x),
                 .weights = factor_of(weights),
                 .y_batch_stride = y.stride(0),
                 .first_batch = 0},
                static_cast<std::uint32_t>(y.size(0)), queue);
}

bool fits_device_product(const ProductInput& input, const ConstAnyView& weights) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const std::int64_t rows = input.shape()[0];
  if (is_generic_format(weights.dtype())) return false;  // their grids are tables of the host's
  // Tiles of planes are whole units long: they begin where an allocation does, or whole tiles behind it.
  if (input.layout == WeightLayout::planes16 && reinterpret_cast<std::uintptr_t>(weights.data()) % 16 != 0)
    return false;
  return fits_device(input.shape()) && fits_device(weights.shape()) && rows < most_product_tokens &&
         rows * divide_rounding_up(input.shape()[1], span_elements) < most;
}

bool fits_device_batch(const View<const float>& x, const View<const float>& weights, const View<float>& y) {
  return fits_device(x.shape()) && fits_device(weights.shape()) && fits_device(y.shape()) &&
         y.size(1) < most_product_tokens;
}

}  // namespace ingot
