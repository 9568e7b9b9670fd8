// Keys or values out of a cache, one operation a layout (see cache_view.h).
//
//   y[t, h] = decode(pages[slot(sequences[t], positions[t])][h])
//
// C1  pages has shape [P, H, L, D] with L >= 1 and a packed last axis, and is of type f32, f16 or q8_0
// C2  y has shape [T, H, D] with a packed last axis
// C3  sequences and positions have shape [T] and are contiguous; each sequence exists; each position is 0 or more and,
//     but in a ring, below the capacity
// C4  block_table (paged, and optional for a ring) has shape [B, N] with N >= 1; the entries that are used are in [0,
// P) Whether a slot holds the position that is asked for (a ring may have moved on) is the caller's to know.
#pragma once

#include "kernels/cache/cache_view.h"
#include "kernels/contract/contract.h"

namespace ingot {

template <CachePolicy policy>
struct CacheRead {
  static constexpr std::string_view name = policy == CachePolicy::contiguous ? "cache.read_contiguous"
                                           : policy == CachePolicy::ring     ? "cache.read_ring"
                                                                             : "cache.read_paged";
  static constexpr std::string_view equation = "y[t, h] = decode(pages[slot(sequences[t], positions[t])][h])";
  static constexpr Backward backward =
      Backward::none("a cache serves generation; training keeps whole keys and values instead");

  struct Arguments {
    ConstAnyView pages;
    View<const std::int32_t> sequences;
    View<const std::int32_t> positions;
    View<const std::int32_t> block_table;  // not a field where the layout has none
    View<float> y;

    static constexpr auto fields() {
      const auto common = field_list(input(&Arguments::pages, "pages"), input(&Arguments::sequences, "sequences"),
                                     input(&Arguments::positions, "positions"), output(&Arguments::y, "y"));
      if constexpr (policy == CachePolicy::contiguous)
        return common;
      else if constexpr (policy == CachePolicy::ring) {
        return std::tuple_cat(common, field_list(optional_input(&Arguments::block_table, "block_table")));
      } else {
        return std::tuple_cat(common, field_list(input(&Arguments::block_table, "block_table")));
      }
    }
    ConstCacheView cache() const { return {pages, block_table, policy}; }
    CachePlaces places() const { return {sequences, positions}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CacheRead>> variants();
  static void cases(CaseList<CacheRead>& list);
};

using ReadContiguous = CacheRead<CachePolicy::contiguous>;
using ReadRing = CacheRead<CachePolicy::ring>;
using ReadPaged = CacheRead<CachePolicy::paged>;

void read_rows_reference(const ConstCacheView& cache, const CachePlaces& places, const View<float>& y);

template <CachePolicy policy>
const SimdEntries<CacheRead<policy>>& cache_read_simd();
template <CachePolicy policy>
const Variant<CacheRead<policy>>& cache_read_cuda();

}  // namespace ingot
