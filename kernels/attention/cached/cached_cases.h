// Caches of every kind: one contiguous page, pages in scrambled order, rings that have wrapped; every dtype.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/attention/cached/cached_arguments.h"
#include "kernels/contract/case_builder.h"

namespace ingot {

struct CachedShape {
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t dimensions = 1;
  std::int64_t value_dimensions = 1;
  std::int64_t page_length = 1;
  std::int64_t max_pages = 1;
  std::vector<std::int32_t> lengths;
  DType keys = DType::f32;
  DType values = DType::f32;
  std::int64_t window = 0;
  float softcap = 0;
  bool ring = false;
  bool alibi = false;
  bool sinks = false;
  bool has_table = true;
  bool shared = false;  // every row of the table is the same: tokens of one sequence
  float reach = 0;      // of queries, where it is not the regime's; keys and values are tame then
};

inline void fill_cached(CaseBuilder& builder, const CachedShape& shape, std::int64_t tokens, CachedArguments& a) {
  const auto sequences = static_cast<std::int64_t>(shape.lengths.size());
  const std::int64_t pages = sequences * shape.max_pages + 1;
  const Fill fill = shape.reach == 0 ? Fill::values() : Fill::uniform(-2, 2);
  a.q = builder.filled({tokens, shape.heads, shape.dimensions},
                       shape.reach == 0 ? fill : Fill::uniform(-shape.reach, shape.reach));
  a.k_pages = builder.filled_any(shape.keys, {pages, shape.key_heads, shape.page_length, shape.dimensions}, fill);
  a.v_pages =
      builder.filled_any(shape.values, {pages, shape.key_heads, shape.page_length, shape.value_dimensions}, fill);
  const View<std::int32_t> table = builder.blank<std::int32_t>({sequences, shape.max_pages});
  const View<std::int32_t> lengths = builder.blank<std::int32_t>({sequences});
  for (std::int64_t s = 0; s < sequences; ++s) {
    lengths(s) = shape.lengths[static_cast<std::size_t>(s)];
    for (std::int64_t page = 0; page < shape.max_pages; ++page) {
      // Later sequences own earlier pages, and pages run backwards; what no token uses is no page at all.
      const bool used = page * shape.page_length < lengths(s);
      const std::int64_t owner = shape.shared ? 0 : s;
      table(s, page) = used ? static_cast<std::int32_t>(pages - 1 - owner * shape.max_pages - page) : -1;
    }
  }
  if (shape.has_table) a.block_table = table;
  a.lengths = lengths;
  if (shape.alibi) a.alibi_slopes = builder.filled({shape.heads}, Fill::uniform(0.01, 0.5));
  if (shape.sinks) a.sinks = builder.filled({shape.heads}, Fill::uniform(-1, 2));
  a.scale = 1 / std::sqrt(static_cast<float>(shape.dimensions));
  if (shape.reach != 0) a.scale /= shape.reach;
  a.window = shape.window;
  a.softcap = shape.softcap;
  a.ring = shape.ring;
  a.y = builder.blank({tokens, shape.heads, shape.value_dimensions});
}

// With queries of that reach.
inline CachedShape reaching(float reach, CachedShape shape) {
  shape.reach = reach;
  return shape;
}

}  // namespace ingot
