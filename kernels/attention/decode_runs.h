// Runs: new tokens of one sequence that follow each other, as a prompt's do. attention.decode gets each token as a
// sequence of its own; those of a run have the same pages and lengths that grow by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/attention/decode.h"
#include "kernels/attention/decode_plan.h"
#include "kernels/attention/sdpa_inputs.h"
#include "kernels/attention/tiles.h"

namespace ingot {

struct DecodeRun {
  std::int64_t first = 0;  // token of the call
  std::int64_t count = 0;
  std::int64_t first_unit = 0;  // of work: a strip of row tiles for a head of keys

  // The token whose row of the table names all pages of the run.
  std::int64_t last() const { return first + count - 1; }
};

// The run as whole-sequence attention sees it. Keys and values have their shapes and no place: they lie in pages.
inline SdpaInputs inputs_of(const Decode::Arguments& a, const DecodeRun& run) {
  const std::int64_t length = a.lengths(run.last());
  SdpaInputs inputs;
  inputs.q = View<const float>(a.q.data() + run.first * a.q.stride(0), {1, a.heads(), run.count, a.q.size(2)},
                               {0, a.q.stride(1), a.q.stride(0), a.q.stride(2)}, a.q.place());
  inputs.k = View<const float>(nullptr, {1, a.key_heads(), length, a.q.size(2)});
  inputs.v = View<const float>(nullptr, {1, a.key_heads(), length, a.value_dimensions()});
  inputs.alibi_slopes = a.alibi_slopes;
  inputs.sinks = a.sinks;
  inputs.scale = a.scale;
  inputs.mask_kind = MaskKind::causal;
  // A ring holds as many positions as it has slots: what lies before is as if behind a window.
  const std::int64_t slots = a.ring ? a.keys().capacity() : a.window;
  inputs.window = a.window == 0 ? slots : std::min(a.window, slots);
  inputs.softcap = a.softcap;
  inputs.query_offset = length - run.count;
  return inputs;
}

// A tile of keys is decoded once for a strip of row tiles. Strips are as long as leaves work for many threads.
inline constexpr std::int64_t longest_strip = 4;
static_assert(key_tile <= token_tile, "one list of rows serves both");

inline std::int64_t strip_of(const Decode::Arguments& a) {
  const std::int64_t tiles = a.key_heads() * divide_rounding_up(a.group() * a.batches(), row_tile);
  return std::clamp<std::int64_t>(tiles / enough_units, 1, longest_strip);
}

// Floats of scratch memory for a worker: keys, then what a strip takes.
inline std::int64_t run_worker_floats(const Decode::Arguments& a) {
  const std::int64_t value_width = padded_width(a.value_dimensions());
  return key_tile * (padded_width(a.q.size(2)) + a.q.size(2) + value_width + 2 * row_tile) +
         strip_of(a) * row_tile * (a.q.size(2) + value_width);
}

inline std::size_t run_list_bytes(const Decode::Arguments& a) {
  return align_up(static_cast<std::size_t>(a.batches()) * sizeof(DecodeRun), 64);
}
inline std::size_t run_scratch_bytes(const Decode::Arguments& a, int threads) {
  return run_list_bytes(a) + static_cast<std::size_t>(threads * run_worker_floats(a)) * sizeof(float);
}

class DecodeRuns {
 public:
  // The list is kept in scratch memory, which has run_scratch_bytes.
  DecodeRuns(const Decode::Arguments& a, std::span<std::byte> scratch)
      : runs_(reinterpret_cast<DecodeRun*>(scratch.data())), batches_(a.batches()), list_bytes_(run_list_bytes(a)) {
    for (std::int64_t b = 0; b < batches_; ++b) {
      if (b > 0 && follows(a, b)) {
        ++runs_[count_ - 1].count;
      } else {
        runs_[count_++] = {b, 1, 0};
      }
    }
    for (std::int64_t i = 0; i < count_; ++i) {
      runs_[i].first_unit = units_;
      units_ += a.key_heads() * divide_rounding_up(a.group() * runs_[i].count, row_tile * strip_of(a));
    }
  }

  // Tiles pay where several rows share what is read.
  bool are_long() const { return batches_ >= 4 * count_; }
  std::int64_t units() const { return units_; }
  const DecodeRun& run_of(std::int64_t unit) const {
    const DecodeRun* next = std::upper_bound(
        runs_, runs_ + count_, unit, [](std::int64_t wanted, const DecodeRun& run) { return wanted < run.first_unit; });
    return next[-1];
  }
  float* worker_memory(std::span<std::byte> scratch) const {
    return reinterpret_cast<float*>(scratch.data() + list_bytes_);
  }

 private:
  static bool follows(const Decode::Arguments& a, std::int64_t b) {
    const std::int64_t before = a.lengths(b - 1);
    if (before == 0 || a.lengths(b) != before + 1 || !is_present(a.block_table)) return false;
    const std::int64_t slots = std::min<std::int64_t>(before, a.keys().capacity());
    for (std::int64_t page = 0; page * a.k_pages.size(2) < slots; ++page) {
      if (a.block_table(b, page) != a.block_table(b - 1, page)) return false;
    }
    return true;
  }

  DecodeRun* runs_;
  std::int64_t batches_;
  std::size_t list_bytes_;
  std::int64_t count_ = 0;
  std::int64_t units_ = 0;
};

}  // namespace ingot
