// What launches that store into caches or read them are told, made of a call's arguments.
#pragma once

#include <algorithm>

#include "kernels/cache/cache_cuda.h"
#include "kernels/cache/page_alignment.h"
#include "kernels/cache/store.h"
#include "kernels/device/windows.h"

namespace ingot {

template <class Byte>
DeviceCache<Byte> device_cache(const BasicCacheView<Byte>& cache, const CachePlaces& places) {
  constexpr std::int64_t beyond_positions = std::int64_t{1} << 31;
  const std::int64_t wraps_at =
      cache.policy == CachePolicy::ring ? std::min(cache.capacity(), beyond_positions) : beyond_positions;
  return {.pages = cache.pages.data(),
          .page_stride = cache.pages.byte_stride(0),
          .head_stride = cache.pages.byte_stride(1),
          .token_stride = cache.pages.byte_stride(2),
          .block_table =
              is_present(cache.block_table) ? device_tensor(cache.block_table) : DeviceTensor<const std::int32_t>(),
          .sequences = places.sequences.data(),
          .positions = places.positions.data(),
          .heads = static_cast<std::uint32_t>(cache.heads()),
          .page_length = static_cast<std::uint32_t>(cache.page_length()),
          .wraps_at = static_cast<std::uint32_t>(wraps_at)};
}

// Four numbers are moved at once on both sides.
template <class Byte, class Element>
bool rows_are_aligned(const BasicAnyView<Byte>& pages, const View<Element>& rows) {
  return groups_are_aligned(rows) && page_groups_are_aligned(pages);
}

inline bool fits_cache(const ConstAnyView& pages, const View<const std::int32_t>& block_table, const Shape& rows) {
  return fits_device(pages.shape()) && fits_device(rows) &&
         (!is_present(block_table) || fits_device(block_table.shape()));
}

template <class Arguments>
CacheStoreRows store_rows_of(const Arguments& a) {
  const DeviceRows<const float> x = device_rows(a.x);
  const std::uint32_t group = a.pages.dtype() == DType::q8_0 ? 32 : 4;
  return {.x = x,
          .cache = device_cache(a.cache(), a.places()),
          .groups = RowGroups(x.count, (x.length + group - 1) / group),
          .dtype = a.pages.dtype(),
          .is_aligned = rows_are_aligned(a.pages, a.x)};
}

}  // namespace ingot
