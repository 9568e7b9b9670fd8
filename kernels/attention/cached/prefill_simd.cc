// Vector prefill: keys stream past tiles of 64 rows, the queries of a run in all heads of a group, as in whole-sequence
// attention. A tile of keys is found in its pages and made floats once for several tiles of rows.
#include <algorithm>

#include "kernels/attention/cached/prefill.h"
#include "kernels/attention/cached/prefill_plan.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/cached/prefill_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/cached/cache_rows-inl.h"
#include "kernels/attention/sdpa/streaming-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// A strip of a run's row tiles.
void attend_run_strip(const Prefill::Arguments& a, const PrefillRun& run, std::int64_t key_head, std::int64_t strip,
                      float* memory) {
  const SdpaInputs inputs = inputs_of(a, run);
  const std::int64_t first_tile = strip * strip_of(a);
  const std::int64_t tiles = std::min(strip_of(a), row_tiles_per_key_head(inputs) - first_tile);
  RowStream streams[longest_strip];
  for (std::int64_t i = 0; i < tiles; ++i) fill_row_tile(inputs, 0, key_head, first_tile + i, streams[i].rows);
  const std::int64_t key_width = padded_width(inputs.dimensions());
  const std::int64_t value_width = padded_width(inputs.value_dimensions());
  float* keys = memory;
  const TileMemory tile_memory(keys + key_tile * key_width, inputs.dimensions(), value_width, strip_of(a));
  // Padding is zero, and loads of tokens leave it so.
  clear_padding(keys, key_tile, key_width, inputs.dimensions());
  clear_padding(tile_memory.values, key_tile, value_width, inputs.value_dimensions());
  TokenRows found;
  auto load = [&](const ConstCacheView& cache, std::int64_t first, std::int64_t count, float* to,
                  std::int64_t width) -> WholeRows {
    const LoadToken load_token = load_of(cache.pages.dtype());
    find_rows(cache, run.sequence, key_head, first, count, found);
    for (std::int64_t t = 0; t < count; ++t) load_token(found.row[t], to + t * width, cache.width());
    return {to, width};
  };
  const ConstCacheView key_cache = a.keys();
  const ConstCacheView value_cache = a.values();
  auto keys_at = [&](std::int64_t first, std::int64_t count) { return load(key_cache, first, count, keys, key_width); };
  auto values_at = [&](std::int64_t first, std::int64_t count) {
    return load(value_cache, first, count, tile_memory.values, value_width);
  };
  auto query_at = [&](const float* query) {
    return rounded_query(key_cache.pages.dtype(), query, inputs.dimensions(), keys);
  };
  stream_keys(inputs, {}, std::span(streams, static_cast<std::size_t>(tiles)), tile_memory, query_at, keys_at,
              values_at, [&](const RowTile& rows, std::int64_t r, const float* output, const Running&) {
                std::copy_n(output, inputs.value_dimensions(), &a.y(run.first + rows.query[r], rows.head[r], 0));
              });
}

void prefill(const Prefill::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const PrefillRuns runs(a, context.scratch);
  float* memory = runs.worker_memory();
  context.workers.for_chunks(runs.tasks(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t task = begin; task < end; ++task) {
      const PrefillRun& run = runs.run_of(task);
      const std::int64_t within = task - run.first_task;
      attend_run_strip(a, run, within % a.key_heads(), within / a.key_heads(),
                       memory + worker * prefill_worker_floats(a));
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Prefill> prefill_simd = INGOT_SIMD_ENTRIES(prefill);
}  // namespace ingot
#endif
