// Vector attention over whole sequences; serves attention.sdpa and attention.streaming.
#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/attention/tiles.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/sdpa/streaming_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/sdpa/streaming-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void attend_tile(const SdpaArguments& a, const View<const float>& mask, RowStream& stream, const TileMemory& memory) {
  const RowTile& rows = stream.rows;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  auto keys_at = [&](std::int64_t first,
                     std::int64_t) -> WholeRows {  // read element by element, so they need not be whole
    return {&a.k(rows.batch, rows.key_head, first, 0), a.k.stride(2)};
  };
  auto values_at = [&](std::int64_t first, std::int64_t count) {
    return whole_rows(a.v, rows, first, count, lanes, memory.values);
  };
  auto query_at = [](const float* query) { return query; };
  stream_keys(a, mask, std::span(&stream, 1), memory, query_at, keys_at, values_at,
              [&](const RowTile&, std::int64_t r, const float* output, const Running& running) {
                std::copy_n(output, a.value_dimensions(), &a.y(rows.batch, rows.head[r], rows.query[r], 0));
                if (is_present(a.log_sum_exp)) {
                  const float sum = running.sum[r];
                  a.log_sum_exp(rows.batch, rows.head[r], rows.query[r]) =
                      sum == 0 ? -std::numeric_limits<float>::infinity() : running.maximum[r] + std::log(sum);
                }
              });
}

void attend(const SdpaArguments& a, Context& context) {
  if (a.y.empty()) return;
  const View<const float> mask = a.repeated_mask();
  const std::int64_t tiles = row_tiles_per_key_head(a);
  const std::int64_t padded = padded_width(a.value_dimensions());
  const std::size_t bytes = streaming_scratch_bytes(a, 1);
  // A tile of few keys is not worth a thread of its own.
  const std::int64_t tile_bytes = row_tile * std::max<std::int64_t>(a.keys(), 1);
  context.workers.for_chunks(a.batches() * a.key_heads() * tiles, rows_per_chunk(tile_bytes),
                             [&](std::int64_t begin, std::int64_t end, int worker) {
                               std::byte* start = context.scratch.data() + static_cast<std::size_t>(worker) * bytes;
                               const TileMemory memory(reinterpret_cast<float*>(start), a.dimensions(), padded, 1);
                               RowStream stream;
                               for (std::int64_t index = begin; index < end; ++index) {
                                 const std::int64_t pair = index / tiles;
                                 fill_row_tile(a, pair / a.key_heads(), pair % a.key_heads(), index % tiles,
                                               stream.rows);
                                 attend_tile(a, mask, stream, memory);
                               }
                             });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Sdpa> sdpa_simd = INGOT_SIMD_ENTRIES(attend);
const SimdEntries<Streaming> streaming_simd = INGOT_SIMD_ENTRIES(attend);
}  // namespace ingot
#endif
