// How attention over runs is cut, and where its parts lie in scratch memory. All from the shape and the runs alone, so
// that results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/attention/cached/prefill.h"
#include "kernels/attention/cached/token_rows.h"
#include "kernels/attention/sdpa/sdpa_inputs.h"
#include "kernels/attention/tiles.h"

namespace ingot {

struct PrefillRun {
  std::int64_t sequence = 0;
  std::int64_t first = 0;  // token of the call
  std::int64_t count = 0;
  std::int64_t first_task = 0;  // a strip of row tiles for a head of keys
};

// The run as whole-sequence attention sees it. Keys and values have their shapes and no place: they lie in pages.
inline SdpaInputs inputs_of(const Prefill::Arguments& a, const PrefillRun& run) {
  const std::int64_t length = a.lengths(run.sequence);
  SdpaInputs inputs;
  inputs.q = View<const float>(a.q.data() + run.first * a.q.stride(0), {1, a.heads(), run.count, a.dimensions()},
                               {0, a.q.stride(1), a.q.stride(0), a.q.stride(2)}, a.q.place());
  inputs.k = View<const float>(nullptr, {1, a.key_heads(), length, a.dimensions()});
  inputs.v = View<const float>(nullptr, {1, a.key_heads(), length, a.value_dimensions()});
  inputs.alibi_slopes = a.alibi_slopes;
  inputs.sinks = a.sinks;
  inputs.scale = a.scale;
  inputs.mask_kind = MaskKind::causal;
  // A ring holds as many positions as it has slots: what lies before is as if behind a window.
  const std::int64_t slots = a.ring ? a.keys().capacity() : a.window;
  inputs.window = a.window == 0 ? slots : std::min(a.window, slots);
  inputs.softcap = a.softcap;
  inputs.query_offset = a.first_position(run.sequence);
  return inputs;
}

// A tile of keys is decoded once for a strip of row tiles. Strips are as long as leaves work for many threads.
inline constexpr std::int64_t longest_strip = 4;
static_assert(key_tile <= token_tile, "one list of rows serves both");

inline std::int64_t strip_of(const Prefill::Arguments& a) {
  const std::int64_t tiles = a.key_heads() * divide_rounding_up(a.head_group() * a.tokens(), row_tile);
  return std::clamp<std::int64_t>(tiles / enough_tasks, 1, longest_strip);
}

// Floats of scratch memory for a worker: keys, then what a strip takes.
inline std::int64_t prefill_worker_floats(const Prefill::Arguments& a) {
  const std::int64_t value_width = padded_width(a.value_dimensions());
  return key_tile * (padded_width(a.dimensions()) + a.dimensions() + value_width + 2 * row_tile) +
         strip_of(a) * row_tile * (a.dimensions() + value_width);
}

inline std::size_t run_list_bytes(const Prefill::Arguments& a) {
  return align_up(static_cast<std::size_t>(a.sequences()) * sizeof(PrefillRun), 64);
}
inline std::size_t prefill_scratch_bytes(const Prefill::Arguments& a, int threads) {
  if (a.y.empty()) return 0;
  return run_list_bytes(a) + static_cast<std::size_t>(threads * prefill_worker_floats(a)) * sizeof(float);
}

// The runs with their tasks.
class PrefillRuns {
 public:
  // The list is kept in scratch memory, which has prefill_scratch_bytes.
  PrefillRuns(const Prefill::Arguments& a, std::span<std::byte> scratch)
      : runs_(reinterpret_cast<PrefillRun*>(scratch.data())),
        count_(a.sequences()),
        worker_memory_(reinterpret_cast<float*>(scratch.data() + run_list_bytes(a))) {
    const std::int64_t rows_of_task = row_tile * strip_of(a);
    for (std::int64_t run = 0; run < count_; ++run) {
      runs_[run] = {run, a.run_begins(run), a.run_tokens(run), tasks_};
      tasks_ += a.key_heads() * divide_rounding_up(a.head_group() * a.run_tokens(run), rows_of_task);
    }
  }

  std::int64_t tasks() const { return tasks_; }
  const PrefillRun& run_of(std::int64_t task) const {
    const PrefillRun* next =
        std::upper_bound(runs_, runs_ + count_, task,
                         [](std::int64_t wanted, const PrefillRun& run) { return wanted < run.first_task; });
    return next[-1];
  }
  float* worker_memory() const { return worker_memory_; }

 private:
  PrefillRun* runs_;
  std::int64_t count_;
  float* worker_memory_;
  std::int64_t tasks_ = 0;
};

}  // namespace ingot
