// Launches of products whose weights come by way of shared memory, of 16 bits or in planes: few tokens in the frame of
// kernels/linear/cuda/streamed.h, many in that of kernels/linear/cuda/tiled.h.
#include "kernels/linear/cuda/streamed_cuda.h"

#include "kernels/device/windows.h"
#include "kernels/linear/cuda/plane_products_cuda.h"
#include "kernels/linear/cuda/product_launches.h"
#include "machine/gpu/launch_limits.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(plane_products_32_cuda);
INGOT_DEVICE_FUNCTION_OF(plane_products_32_cuda, multiply_planes_one_32);
INGOT_DEVICE_FUNCTION_OF(plane_products_32_cuda, multiply_planes_few_32);
INGOT_DEVICE_FUNCTION_OF(plane_products_32_cuda, multiply_planes_many_32);
INGOT_DEVICE_MODULE(plane_products_256_cuda);
INGOT_DEVICE_FUNCTION_OF(plane_products_256_cuda, multiply_planes_one_256);
INGOT_DEVICE_FUNCTION_OF(plane_products_256_cuda, multiply_planes_few_256);
INGOT_DEVICE_FUNCTION_OF(plane_products_256_cuda, multiply_planes_many_256);
INGOT_DEVICE_MODULE(half_products_cuda);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_one_f16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_few_f16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_many_f16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_anywhere_f16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_one_bf16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_few_bf16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_many_bf16);
INGOT_DEVICE_FUNCTION_OF(half_products_cuda, multiply_anywhere_bf16);

// What a kind of weights wants of the frame.
struct StreamFrame {
  const DeviceFunction& one;
  const DeviceFunction& few;
  std::uint32_t warp_bytes;   // of shared memory: the tiles of a warp that are under way
  std::uint32_t piece_depth;  // that a warp sums up, of one token
  std::uint32_t x_bytes;      // of shared memory that one token takes
};

StreamFrame frame_of(PreparedKind kind, std::uint32_t depth) {
  constexpr std::uint32_t of_halves = half_stages * half_tile_bytes;
  const std::uint32_t rounded_bytes =
      static_cast<std::uint32_t>(align_up(depth, half_chunk)) * std::uint32_t{sizeof(std::uint16_t)};
  switch (kind) {
    case PreparedKind::bf16:
      return {multiply_one_bf16_function, multiply_few_bf16_function, of_halves, half_chunk, rounded_bytes};
    case PreparedKind::halves:
      return {multiply_one_f16_function, multiply_few_f16_function, of_halves, half_chunk, rounded_bytes};
    case PreparedKind::plain_codes_32:
      return {multiply_planes_one_32_function, multiply_planes_few_32_function, plane_stages * plane_stage_bytes_32,
              segment_depth, depth + depth / 32 * std::uint32_t{sizeof(float)}};
    default:
      return {multiply_planes_one_256_function, multiply_planes_few_256_function, plane_stages * plane_stage_bytes_256,
              span_elements, depth + static_cast<std::uint32_t>(align_up(depth / span_elements * sizeof(float), 16))};
  }
}

// Blocks that prepare one token for themselves, at most; of more it takes longer than a launch that does it for all
// (measured, as what follows: docs/performance/gpu.md). Rounded, x may be prepared by more blocks, where it leaves room
// for as many of them on a multiprocessor as there are without it.
constexpr std::uint32_t most_preparing_blocks = 320;
constexpr std::uint32_t most_rounding_blocks = 1024;
// And blocks that ask for their weights before they wait, of which none waits for another to end; and for how much.
constexpr std::uint32_t most_prefetching_blocks = 160;
constexpr std::uint32_t most_prefetched_bytes = 64 << 10;

std::uint32_t blocks_of(const JointProducts& products) {
  std::uint32_t blocks = 0;
  for (std::uint32_t i = 0; i < products.count; ++i) {
    if (i == 0 || !products.curve.has_value()) blocks += blocks_for(products.parts[i].columns, warp_columns);
  }
  return blocks;
}

// About 20 warps of an SM stream what there is to stream (measured, docs/performance/gpu.md): the fewer blocks there
// are, the more warps each has. Few bytes an element want small blocks, which end at different times. A gate and what
// it gates are twice as many warps. Of 16 bits, each has as many as let the blocks run all at once, 3 or 4 an SM: one
// that has to wait for others to end costs a whole turn. Where there are more turns than that, few large blocks are
// better. Of blocks of 256 it is many small ones.
std::uint32_t warps_of_part(PreparedKind kind, std::uint32_t blocks, std::uint32_t teams) {
  constexpr std::uint32_t multiprocessors = 132;  // of an H200; elsewhere it is as right, and not as fast
  if (blocks <= 160) return 16 / teams;
  if (blocks <= 320) return 8 / teams;
  if (teams == 1) return is_rounded(kind) ? 8 : 4;
  if (!is_rounded(kind)) return kind != PreparedKind::plain_codes_32 || blocks <= 5 * multiprocessors ? 2 : 4;
  if (blocks <= 3 * multiprocessors) return 4;
  if (blocks <= 4 * multiprocessors) return 3;
  return blocks <= most_rounding_blocks ? 6 : 8;
}

// Bits depend on none of it: warps share the depth by pieces, whose sums are joined in their order.
struct StreamShape {
  LaunchShape launch;
  std::uint32_t warps;
  bool prepares_x;
  std::uint32_t x_bytes;  // where it does

  StreamShape(const JointProducts& products, const ProductInput& input, const StreamFrame& frame) {
    const DeviceProduct& first = products.parts[0];
    const bool is_one = first.rows == 1;
    const std::uint32_t pieces = blocks_for(first.depth, is_one ? frame.piece_depth : segment_depth);
    const std::uint32_t teams = products.curve.has_value() ? products.count : 1;
    const std::uint32_t blocks = blocks_of(products);
    const PreparedKind kind = prepared_kind(products.types[0], input.layout);
    // Codes that can be read where they lie need no preparation at all.
    const bool wants_x = is_one && !reads_given_codes(input);
    prepares_x = wants_x && (input.is_coded() || blocks <= most_preparing_blocks);
    x_bytes = prepares_x ? frame.x_bytes : 0;
    const std::uint32_t piece_floats = is_one ? warp_columns + 1 : warp_columns * tile_tokens;
    const std::uint32_t of_pieces = pieces * piece_floats * std::uint32_t{sizeof(float)};
    std::uint32_t most_warps = warps_of_part(kind, blocks, teams);
    do {  // where x is long, fewer
      const std::uint32_t turns = std::max(blocks_for(pieces, most_warps), 1u);
      warps = std::max(blocks_for(pieces, turns), 1u);
      launch = {.blocks = blocks,
                .blocks_y = tiles_for(first, tile_tokens),
                .threads = 32 * warps * teams,
                .shared_bytes = teams * (warps * frame.warp_bytes + of_pieces) + x_bytes};
      most_warps = warps / 2;
    } while (!fits() && most_warps > 0);
    if (!wants_x || prepares_x || !is_rounded(kind) || blocks > most_rounding_blocks) return;
    LaunchShape with_x = launch;
    with_x.shared_bytes += frame.x_bytes;
    if (blocks_of_multiprocessor(with_x) != blocks_of_multiprocessor(launch) || !fits(with_x)) return;
    launch = with_x;
    prepares_x = true;
    x_bytes = frame.x_bytes;
  }
  bool fits() const { return fits(launch); }

 private:
  static bool fits(const LaunchShape& shape) { return shape.shared_bytes <= most_launch_shared_bytes; }
  static std::uint32_t blocks_of_multiprocessor(const LaunchShape& shape) {
    constexpr std::uint32_t all = 228 << 10, of_each = 1 << 10;
    return all / (shape.shared_bytes + of_each);
  }
};

bool is_streamed(const JointProducts& products, const ProductInput& input) {
  const PreparedKind kind = prepared_kind(products.types[0], input.layout);
  if (!is_rounded(kind) && !is_plain(kind)) return false;
  for (std::uint32_t i = 0; i < products.count; ++i) {
    if (prepared_kind(products.types[i], input.layout) != kind) return false;
    if (is_rounded(kind) && !starts_aligned(products.parts[i])) return false;
  }
  const DeviceProduct& first = products.parts[0];
  return has_few_tokens(first) && StreamShape(products, input, frame_of(kind, first.depth)).fits();
}

StreamedParts streamed_parts(const JointProducts& products, std::uint32_t warps, std::uint32_t x_bytes = 0) {
  StreamedParts joined = {};
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < products.count; ++i) {
    joined.parts[i] = products.parts[i];
    joined.types[i] = products.types[i];
    const std::uint32_t blocks = blocks_for(products.parts[i].columns, warp_columns);
    end = products.curve.has_value() ? blocks : end + blocks;
    joined.ends[i] = end;
  }
  joined.warps = warps;
  joined.x_bytes = x_bytes;
  joined.prefetched_bytes = blocks_of(products) <= most_prefetching_blocks ? most_prefetched_bytes : 0;
  joined.has_curve = products.curve.has_value();
  joined.is_gated = products.curve.has_value() && products.count == 2;
  joined.curve = products.curve.has_value() ? static_cast<std::uint8_t>(*products.curve) : std::uint8_t{0};
  return joined;
}

HalfProducts half_products(const StreamedParts& joined, PreparedKind kind, const std::byte* prepared) {
  const DeviceProduct& first = joined.parts[0];
  const RoundedPlace place(kind, first.rows, first.depth);
  const bool has_scales = kind == PreparedKind::halves;
  return {.joined = joined,
          .x = reinterpret_cast<const std::uint16_t*>(prepared),
          .x_stride = static_cast<std::uint32_t>(place.stride),
          .from_halves = has_scales ? reinterpret_cast<const float*>(prepared + place.scales) : nullptr,
          .floats = nullptr,
          .is_aligned = false};
}

PlaneProducts plane_products(const StreamedParts& joined, PreparedKind kind, const ProductInput& input,
                             const std::byte* prepared) {
  const CodedX given = input.coded();
  if (reads_given_codes(input)) {
    return {joined, given.codes, given.scales, given.codes_stride, given.scales_stride, false, nullptr, true};
  }
  const DeviceProduct& first = joined.parts[0];
  const PlainPlace place(kind, first.rows, first.depth);
  return {joined,
          reinterpret_cast<const std::int8_t*>(prepared),
          reinterpret_cast<const float*>(prepared + place.scales),
          first.depth,
          first.depth / (kind == PreparedKind::plain_codes_32 ? 32 : span_elements),
          lays_codes(first.rows),
          nullptr,
          true};
}

}  // namespace

bool takes_x_as_it_is(const JointProducts& products, const ProductInput& input) {
  if (!is_streamed(products, input)) return false;
  const StreamFrame frame = frame_of(prepared_kind(products.types[0], input.layout), products.parts[0].depth);
  return StreamShape(products, input, frame).prepares_x;
}

bool enqueue_together(const JointProducts& products, const ProductInput& input, const std::byte* prepared,
                      Queue& queue) {
  if (!is_streamed(products, input)) return false;
  const PreparedKind kind = prepared_kind(products.types[0], input.layout);
  const StreamFrame frame = frame_of(kind, products.parts[0].depth);
  const StreamShape shape(products, input, frame);
  if (shape.launch.blocks == 0) return true;
  const bool is_one = products.parts[0].rows == 1;
  const DeviceFunction& function = is_one ? frame.one : frame.few;
  const StreamedParts joined = streamed_parts(products, shape.warps, shape.x_bytes);
  if (is_rounded(kind)) {
    HalfProducts parameters = half_products(joined, kind, prepared);
    if (shape.x_bytes > 0) {
      parameters.floats = input.x.data();
      parameters.is_aligned = groups_are_aligned(input.x);
    }
    queue.launch(function, shape.launch, parameters);
    return true;
  }
  PlaneProducts parameters = plane_products(joined, kind, input, prepared);
  if (shape.x_bytes > 0) {
    const CodedX given = input.coded();
    parameters.codes = given.codes;
    parameters.scales = given.scales;
    parameters.x = given.is_given() ? nullptr : input.x.data();
    parameters.is_aligned = !given.is_given() && groups_are_aligned(input.x);
  }
  queue.launch(function, shape.launch, parameters);
  return true;
}

void enqueue_tiled(const DeviceProduct& product, DType weight_type, const ProductInput& input,
                   const std::byte* prepared, Queue& queue) {
  const PreparedKind kind = prepared_kind(weight_type, input.layout);
  const StreamedParts alone = streamed_parts({.parts = {product}, .types = {weight_type}, .count = 1, .curve = {}}, 1);
  if (is_plain(kind)) {
    const bool is_32 = kind == PreparedKind::plain_codes_32;
    const std::uint32_t tile_bytes = is_32 ? plane_stage_bytes_32 : plane_stage_bytes_256;
    return launch_many(is_32 ? multiply_planes_many_32_function : multiply_planes_many_256_function, product,
                       plane_products(alone, kind, input, prepared), queue,
                       plane_tiled_stages * (plane_x_bytes + tiled_warps * tile_bytes));
  }
  const bool is_half = kind == PreparedKind::halves;
  const HalfProducts parameters = half_products(alone, kind, prepared);
  if (starts_aligned(product)) {
    constexpr std::uint32_t stage_bytes = half_x_bytes + tiled_warps * half_tile_bytes;
    return launch_many(is_half ? multiply_many_f16_function : multiply_many_bf16_function, product, parameters, queue,
                       half_tiled_stages * stage_bytes);
  }
  launch_many(is_half ? multiply_anywhere_f16_function : multiply_anywhere_bf16_function, product, parameters, queue);
}

}  // namespace ingot
