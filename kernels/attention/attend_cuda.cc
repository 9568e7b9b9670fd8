#include "kernels/attention/attend_cuda.h"

#include <algorithm>
#include <bit>

#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/prefill.h"
#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/cache/page_alignment.h"
#include "kernels/device/windows.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(attend_cuda);
INGOT_DEVICE_FUNCTION_OF(attend_cuda, attend_rows_4);
INGOT_DEVICE_FUNCTION_OF(attend_cuda, attend_rows_16);
INGOT_DEVICE_MODULE(join_splits_cuda);
INGOT_DEVICE_FUNCTION_OF(join_splits_cuda, join_attended_splits);
INGOT_DEVICE_MODULE(attend_halves_cuda);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_token_halves_64);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_whole_halves_64);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_token_halves_128);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_whole_halves_128);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_runs_halves_64);
INGOT_DEVICE_FUNCTION_OF(attend_halves_cuda, attend_runs_halves_128);
INGOT_DEVICE_MODULE(attend_codes_cuda);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_token_codes_64);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_whole_codes_64);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_token_codes_128);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_whole_codes_128);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_alone_codes_128);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_runs_codes_64);
INGOT_DEVICE_FUNCTION_OF(attend_codes_cuda, attend_runs_codes_128);

constexpr std::int64_t beyond_positions = std::int64_t{1} << 31;
constexpr std::int64_t few_rows = 4, many_rows = 16;   // of a tile
constexpr std::uint32_t most_shared_bytes = 96 << 10;  // of a launch, with what functions declare beside it on any GPU

// A way to attend over pages, by what they hold and how wide they are.
struct PageFunctions {
  const DeviceFunction* token;
  const DeviceFunction* whole;  // where pages, group and rules are the usual ones; null: no such function
  const DeviceFunction* alone;  // the same by blocks of eight warps, which few blocks are; null: no such function
  const DeviceFunction* runs;
  std::uint32_t token_rows, run_rows;  // of a tile
  std::uint32_t token_threads, run_threads;
  std::uint32_t tile_bytes;    // of a unit's keys or values in shared memory, where matrix units are used
  std::uint32_t notes_bytes;   // what a warp writes down of a unit there
  std::uint32_t whole_rounds;  // of which results are kept where units are whole
  std::uint32_t width;         // of a row of results there
};
constexpr PageFunctions by_one(const DeviceFunction* token, std::uint32_t token_rows) {
  return {.token = token,
          .whole = nullptr,
          .alone = nullptr,
          .runs = &attend_rows_16_function,
          .token_rows = token_rows,
          .run_rows = many_rows,
          .token_threads = split_keys,
          .run_threads = split_keys,
          .tile_bytes = 0,
          .notes_bytes = 0,
          .whole_rounds = 1,
          .width = 0};
}
// Tiles of 32 rows. Twice as many warps have a token where these are half as large.
constexpr PageFunctions by_matrix_units(const DeviceFunction* token, const DeviceFunction* whole,
                                        const DeviceFunction* alone, const DeviceFunction* runs, DType dtype,
                                        std::uint32_t width) {
  const std::uint32_t blocks = width / 32;
  const bool is_coded = dtype == DType::q8_0;  // CodedUnit: its Notes, and rounds
  return {.token = token,
          .whole = whole,
          .alone = alone,
          .runs = runs,
          .token_rows = 16,
          .run_rows = 64,
          .token_threads = width == 64 ? 256u : 128u,
          .run_threads = 128,
          .tile_bytes = 32 * static_cast<std::uint32_t>(row_bytes(dtype, width)),
          .notes_bytes = is_coded ? blocks * 32 * 4 : 0,
          .whole_rounds = is_coded ? 2u : 1u,
          .width = width};
}
constexpr PageFunctions few_by_one = by_one(&attend_rows_4_function, few_rows);
constexpr PageFunctions many_by_one = by_one(&attend_rows_16_function, many_rows);
constexpr PageFunctions halves_64 = by_matrix_units(&attend_token_halves_64_function, &attend_whole_halves_64_function,
                                                    nullptr, &attend_runs_halves_64_function, DType::f16, 64);
constexpr PageFunctions halves_128 =
    by_matrix_units(&attend_token_halves_128_function, &attend_whole_halves_128_function, nullptr,
                    &attend_runs_halves_128_function, DType::f16, 128);
constexpr PageFunctions codes_64 = by_matrix_units(&attend_token_codes_64_function, &attend_whole_codes_64_function,
                                                   nullptr, &attend_runs_codes_64_function, DType::q8_0, 64);
constexpr PageFunctions codes_128 =
    by_matrix_units(&attend_token_codes_128_function, &attend_whole_codes_128_function,
                    &attend_alone_codes_128_function, &attend_runs_codes_128_function, DType::q8_0, 128);

// From types and widths alone: single tokens and runs over the same cache are attended to by the same sums.
const PageFunctions& page_functions(const CachedArguments& a) {
  const DType dtype = a.k_pages.dtype();
  const std::int64_t width = std::max(a.dimensions(), a.value_dimensions());
  if (dtype == a.v_pages.dtype() && dtype != DType::f32 && width <= 128) {
    if (dtype == DType::f16) return width <= 64 ? halves_64 : halves_128;
    return width <= 64 ? codes_64 : codes_128;
  }
  return a.head_group() <= few_rows ? few_by_one : many_by_one;
}
bool uses_matrix_units(const CachedArguments& a) { return page_functions(a).width > 0; }

bool fits_pages(const CachedArguments& a) {
  return fits_device(a.q.shape()) && fits_device(a.y.shape()) && fits_device(a.k_pages.shape()) &&
         fits_device(a.v_pages.shape()) && (!is_present(a.block_table) || fits_device(a.block_table.shape()));
}

template <class Element>
DeviceTensor<Element> tensor_if_present(const View<Element>& view) {
  return is_present(view) ? device_tensor(view) : DeviceTensor<Element>();
}

// Whether pieces of 16 bytes may be moved: rows of f16, or 272 bytes of rows of q8_0 that lie one behind the other.
bool pieces_are_aligned(const ConstAnyView& pages) {
  if (pages.dtype() == DType::f16) return pages.size(3) % 8 == 0 && pages_are_aligned(pages, 16);
  if (pages.dtype() != DType::q8_0) return false;
  constexpr std::int64_t together = 272;
  const std::int64_t bytes = row_bytes(DType::q8_0, pages.size(3));
  return together % bytes == 0 && pages.size(2) % (together / bytes) == 0 && pages.byte_stride(2) == bytes &&
         pages.byte_stride(0) % 16 == 0 && pages.byte_stride(1) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(pages.data()) % 16 == 0;
}

DevicePages device_pages(const ConstAnyView& pages) {
  return {.data = pages.data(),
          .page_stride = pages.byte_stride(0),
          .head_stride = pages.byte_stride(1),
          .token_stride = pages.byte_stride(2),
          .width = static_cast<std::uint32_t>(pages.size(3)),
          .dtype = pages.dtype(),
          .is_aligned = pages.size(3) % 4 == 0 && page_groups_are_aligned(pages),
          .is_aligned16 = pieces_are_aligned(pages)};
}

// Whether units of keys and of values lie in one piece each, and nothing else is asked for than is by most models: the
// same sums then take fewer instructions.
bool has_whole_units(const CachedArguments& a) {
  const std::int64_t width = page_functions(a).width;
  const auto is_whole = [&](const ConstAnyView& pages) {
    constexpr std::int64_t unit_keys = 32;
    return pieces_are_aligned(pages) && pages.size(2) % unit_keys == 0 && pages.size(3) == width &&
           pages.byte_stride(2) == row_bytes(pages.dtype(), width);
  };
  return width > 0 && is_whole(a.k_pages) && is_whole(a.v_pages) && a.softcap == 0 && !is_present(a.alibi_slopes);
}

// 32 where it is none.
std::uint32_t power_of_two(std::int64_t length) {
  const auto bits = static_cast<std::uint64_t>(length);
  return std::has_single_bit(bits) ? static_cast<std::uint32_t>(std::countr_zero(bits)) : 32;
}

std::int64_t reach_of(const CachedArguments& a) {
  const std::int64_t reach = a.window > 0 ? a.window : beyond_positions;
  return a.ring ? std::min(reach, a.keys().capacity()) : reach;
}

// What a token sees may begin within a split, unless it is all from position 0 on.
std::int64_t most_splits(const CachedArguments& a) {
  const std::int64_t slots = a.keys().capacity();
  const std::int64_t anywhere = divide_rounding_up(std::min(reach_of(a), slots) + split_keys - 1, split_keys);
  const std::int64_t most = a.ring ? anywhere : std::min(anywhere, divide_rounding_up(slots, split_keys));
  const bool begins_at_0 = !a.ring && reach_of(a) >= slots;
  const std::int64_t full = std::int64_t{1} << full_splits_shift(a.key_heads());
  return uses_matrix_units(a) ? std::min(most, begins_at_0 ? full : full + 1) : most;
}

// [token, head, dimension] as one batch of heads.
template <class Element>
DeviceTensor<Element> heads_of_tokens(const View<Element>& view) {
  return device_tensor(View<Element>(view.data(), {1, view.size(1), view.size(0), view.size(2)},
                                     {0, view.stride(1), view.stride(0), view.stride(2)}, view.place()));
}

// Where blocks of a few tokens have eight warps, those of the shortest splits have hardly begun when they end: there
// are half as many of them.
MostSplits most_splits_of(const CachedArguments& a) {
  const std::uint32_t shift = full_splits_shift(a.key_heads());
  return {.shift = shift, .shortest_shift = page_functions(a).alone != nullptr ? shift - 1 : shift};
}

AttendedRows attended_pages(const CachedArguments& a) {
  const std::int64_t wraps_at = a.ring ? std::max<std::int64_t>(a.keys().capacity(), 1) : beyond_positions;
  return {.q = heads_of_tokens(a.q),
          .y = heads_of_tokens(a.y),
          .log_sum_exp = {},
          .keys = device_pages(a.k_pages),
          .values = device_pages(a.v_pages),
          .block_table = tensor_if_present(a.block_table),
          .lengths = device_tensor(a.lengths),
          .run_begins = {},
          .mask = {},
          .alibi_slopes = tensor_if_present(a.alibi_slopes),
          .sinks = tensor_if_present(a.sinks),
          .partials = nullptr,
          .splits = 0,
          .has_whole_units = has_whole_units(a),
          .by_matrix_units = uses_matrix_units(a),
          .most_splits = most_splits_of(a),
          .sequences = static_cast<std::uint32_t>(a.sequences()),
          .key_heads = static_cast<std::uint32_t>(a.key_heads()),
          .head_group = static_cast<std::uint32_t>(a.head_group()),
          .page_length = static_cast<std::uint32_t>(a.k_pages.size(2)),
          .page_shift = power_of_two(a.k_pages.size(2)),
          .wraps_at = static_cast<std::uint32_t>(wraps_at),
          .reach = reach_of(a),
          .reach_ahead = 0,
          .key_count = beyond_positions,
          .query_offset = 0,
          .scale = a.scale,
          .softcap = a.softcap};
}

std::size_t partial_bytes(const CachedArguments& a, int) {
  const std::int64_t floats = a.tokens() * a.heads() * most_splits(a) * (a.value_dimensions() + 2);
  return static_cast<std::size_t>(floats) * sizeof(float);
}

void run_decode(const Decode::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  AttendedRows pages = attended_pages(a);
  pages.partials = reinterpret_cast<float*>(context.scratch.data());
  pages.splits = static_cast<std::uint32_t>(most_splits(a));
  const PageFunctions& functions = page_functions(a);
  const std::int64_t tiles = divide_rounding_up(a.head_group(), functions.token_rows);
  if (pages.splits > 0) {
    constexpr std::int64_t whole_rows = 8;
    // Two blocks of eight warps of a multiprocessor of a large device: more are as fast by four. Bits show nothing of
    // it.
    constexpr std::int64_t most_lone_blocks = 264;
    const bool is_whole = pages.has_whole_units && a.head_group() <= whole_rows;
    // Tiles of keys and values and notes of each warp, and results of its units.
    const auto rows = static_cast<std::uint32_t>(std::min<std::int64_t>(a.head_group(), functions.token_rows));
    const std::uint32_t tile_bytes = 2 * functions.tile_bytes + functions.notes_bytes;
    const std::uint32_t result_bytes = rows * functions.width * 4;
    constexpr std::uint32_t lone_warps = 8;
    const std::uint32_t lone_bytes = lone_warps * (tile_bytes + result_bytes);
    const bool is_alone = is_whole && functions.alone != nullptr && lone_bytes <= most_shared_bytes &&
                          a.tokens() * a.key_heads() * pages.splits <= most_lone_blocks;
    const std::uint32_t rounds = is_whole ? functions.whole_rounds : 1;
    const std::uint32_t threads = is_alone ? 32 * lone_warps : functions.token_threads;
    const std::uint32_t shared_bytes = is_alone ? lone_bytes : threads / 32 * (tile_bytes + rounds * result_bytes);
    context.queue->launch(is_alone   ? *functions.alone
                          : is_whole ? *functions.whole
                                     : *functions.token,
                          {.blocks = static_cast<std::uint32_t>(a.tokens() * a.key_heads()),
                           .blocks_y = pages.splits,
                           .blocks_z = static_cast<std::uint32_t>(tiles),
                           .threads = threads,
                           .shared_bytes = shared_bytes},
                          pages);
  }
  context.queue->launch(join_attended_splits_function,
                        {.blocks = static_cast<std::uint32_t>(a.tokens() * a.heads()), .threads = 128}, pages);
}

void run_prefill(const Prefill::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  AttendedRows pages = attended_pages(a);
  pages.run_begins = device_tensor(a.run_begins);
  // Each run may end with a tile that is not full.
  const PageFunctions& functions = page_functions(a);
  const std::int64_t tiles = a.tokens() * a.head_group() / functions.run_rows + a.sequences();
  // Two stages of a tile of keys and one of values, and notes of each of four warps.
  context.queue->launch(*functions.runs,
                        {.blocks = static_cast<std::uint32_t>(tiles * a.key_heads()),
                         .threads = functions.run_threads,
                         .shared_bytes = 4 * (functions.tile_bytes + functions.notes_bytes)},
                        pages);
}

// Keys or values of whole sequences: a batch is a page.
DevicePages pages_of_batches(const View<const float>& view) {
  constexpr std::int64_t bytes = sizeof(float);
  return {.data = reinterpret_cast<const std::byte*>(view.data()),
          .page_stride = view.stride(0) * bytes,
          .head_stride = view.stride(1) * bytes,
          .token_stride = view.stride(2) * bytes,
          .width = static_cast<std::uint32_t>(view.size(3)),
          .dtype = DType::f32,
          .is_aligned = groups_are_aligned(view),
          .is_aligned16 = false};
}

bool accepts_sequences(const SdpaArguments& a) {
  const Shape scores = {a.batches(), a.heads(), a.queries(), a.keys()};
  return fits_device(a.q.shape()) && fits_device(a.k.shape()) && fits_device(a.v.shape()) &&
         (!is_present(a.mask) || fits_device(scores));
}

void run_sequences(const SdpaArguments& a, Context& context) {
  if (a.y.empty()) return;
  constexpr std::int64_t beyond = std::int64_t{1} << 40;
  const std::int64_t reach = a.window > 0 ? a.window : beyond;
  const AttendedRows rows = {.q = device_tensor(a.q),
                             .y = device_tensor(a.y),
                             .log_sum_exp = tensor_if_present(a.log_sum_exp),
                             .keys = pages_of_batches(a.k),
                             .values = pages_of_batches(a.v),
                             .block_table = {},
                             .lengths = {},
                             .run_begins = {},
                             .mask = tensor_if_present(a.repeated_mask()),
                             .alibi_slopes = tensor_if_present(a.alibi_slopes),
                             .sinks = tensor_if_present(a.sinks),
                             .partials = nullptr,
                             .splits = 0,
                             .has_whole_units = false,
                             .by_matrix_units = false,
                             .most_splits = {},
                             .sequences = static_cast<std::uint32_t>(a.batches()),
                             .key_heads = static_cast<std::uint32_t>(a.key_heads()),
                             .head_group = static_cast<std::uint32_t>(a.head_group()),
                             .page_length = static_cast<std::uint32_t>(a.keys()),
                             .page_shift = 32,
                             .wraps_at = static_cast<std::uint32_t>(beyond_positions),
                             .reach = reach,
                             .reach_ahead = a.mask_kind == MaskKind::causal ? 0 : reach - 1,
                             .key_count = a.keys(),
                             .query_offset = a.query_offset,
                             .scale = a.scale,
                             .softcap = a.softcap};
  const std::int64_t tiles = divide_rounding_up(a.queries() * a.head_group(), many_rows);
  context.queue->launch(
      attend_rows_16_function,
      {.blocks = static_cast<std::uint32_t>(tiles * a.batches() * a.key_heads()), .threads = split_keys}, rows);
}

}  // namespace

constinit const Variant<Decode> decode_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_decode,
    .accepts =
        [](const Decode::Arguments& a) {
          constexpr std::int64_t most_blocks = 65535;  // along the second and the third axis
          return fits_pages(a) && (a.y.empty() || (fits_device({a.tokens() * a.heads() * most_splits(a)}) &&
                                                   most_splits(a) <= most_blocks && a.head_group() <= most_blocks));
        },
    .scratch_bytes = partial_bytes,
    .device_function = &attend_rows_4_function};

constinit const Variant<Prefill> prefill_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_prefill,
    .accepts = [](const Prefill::Arguments& a) { return fits_pages(a) && fits_device(a.run_begins.shape()); },
    .device_function = &attend_rows_16_function};

constinit const Variant<Sdpa> sdpa_cuda = {.name = "cuda",
                                           .needs = {Feature::sm_80},
                                           .run = run_sequences,
                                           .accepts = accepts_sequences,
                                           .device_function = &attend_rows_16_function};

constinit const Variant<Streaming> streaming_cuda = {.name = "cuda",
                                                     .needs = {Feature::sm_80},
                                                     .run = run_sequences,
                                                     .accepts = accepts_sequences,
                                                     .device_function = &attend_rows_16_function};

}  // namespace ingot
