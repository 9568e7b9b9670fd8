// Vector variants of the cache operations: a row of a head is one stretch, converted on its way.
#include "kernels/cache/copy_pages.h"
#include "kernels/cache/read.h"
#include "kernels/cache/store.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/block_formats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cache/cache_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cache/q8_0-inl.h"
#include "kernels/vector/convert-inl.h"
#include "kernels/vector/copy_stretch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// The stored types, by what a stretch of them is made of.
void put_stretch(const float* x, float* row, std::int64_t count) {
  copy_stretch(reinterpret_cast<const std::uint8_t*>(x), reinterpret_cast<std::uint8_t*>(row), count * 4);
}
void put_stretch(const float* x, Half* row, std::int64_t count) { convert_stretch(x, row, count); }
void put_stretch(const float* x, BlockQ8_0* row, std::int64_t count) { encode_q8_0_stretch(x, row, count); }

void get_stretch(const float* row, float* y, std::int64_t count) { put_stretch(row, y, count); }
void get_stretch(const Half* row, float* y, std::int64_t count) { convert_stretch(row, y, count); }
void get_stretch(const BlockQ8_0* row, float* y, std::int64_t count) { decode_q8_0_stretch(row, y, count); }

// Calls task(slot, t) for each place, in chunks worth a thread.
template <class Cache, class Task>
void for_each_place(const Cache& cache, const CachePlaces& places, Context& context, Task&& task) {
  const std::int64_t numbers = cache.heads() * cache.width();
  const std::int64_t bytes = numbers * 4 + row_bytes(cache.pages.dtype(), numbers);
  context.workers.for_chunks(places.count(), rows_per_chunk(bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) task(places.slot(cache, t), t);
  });
}

template <class Stored>
void store_rows(const CacheView& cache, const CachePlaces& places, const View<const float>& x, Context& context) {
  for_each_place(cache, places, context, [&](CacheSlot slot, std::int64_t t) {
    for (std::int64_t head = 0; head < cache.heads(); ++head) {
      put_stretch(&x(t, head, 0), reinterpret_cast<Stored*>(cache.row(slot, head)), cache.width());
    }
  });
}

template <class Stored>
void read_rows(const ConstCacheView& cache, const CachePlaces& places, const View<float>& y, Context& context) {
  for_each_place(cache, places, context, [&](CacheSlot slot, std::int64_t t) {
    for (std::int64_t head = 0; head < cache.heads(); ++head) {
      get_stretch(reinterpret_cast<const Stored*>(cache.row(slot, head)), &y(t, head, 0), cache.width());
    }
  });
}

template <CachePolicy policy>
void cache_store(const typename CacheStore<policy>::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  switch (a.pages.dtype()) {
    case DType::f16: return store_rows<Half>(a.cache(), a.places(), a.x, context);
    case DType::q8_0: return store_rows<BlockQ8_0>(a.cache(), a.places(), a.x, context);
    default: return store_rows<float>(a.cache(), a.places(), a.x, context);
  }
}

template <CachePolicy policy>
void cache_read(const typename CacheRead<policy>::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  switch (a.pages.dtype()) {
    case DType::f16: return read_rows<Half>(a.cache(), a.places(), a.y, context);
    case DType::q8_0: return read_rows<BlockQ8_0>(a.cache(), a.places(), a.y, context);
    default: return read_rows<float>(a.cache(), a.places(), a.y, context);
  }
}

void copy_pages(const CopyPages::Arguments& a, Context& context) {
  if (a.pages.empty()) return;
  const std::int64_t heads = a.pages.size(1);
  const std::int64_t row = row_bytes(a.pages.dtype(), a.pages.size(3));
  // The tokens of a head are one stretch where nothing lies between them.
  const bool packed = a.pages.byte_stride(2) == row;
  const std::int64_t stretches = packed ? 1 : a.pages.size(2);
  const std::int64_t bytes = packed ? row * a.pages.size(2) : row;
  context.workers.for_chunks(
      a.source.size(0) * heads, rows_per_chunk(2 * stretches * bytes), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t offset = item % heads * a.pages.byte_stride(1);
          const std::byte* from = a.pages.data() + a.source(item / heads) * a.pages.byte_stride(0) + offset;
          std::byte* to = a.pages.data() + a.destination(item / heads) * a.pages.byte_stride(0) + offset;
          for (std::int64_t stretch = 0; stretch < stretches; ++stretch) {
            copy_stretch(from + stretch * a.pages.byte_stride(2), to + stretch * a.pages.byte_stride(2), bytes);
          }
        }
      });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

template <CachePolicy policy>
const SimdEntries<CacheStore<policy>>& cache_store_simd() {
  static const SimdEntries<CacheStore<policy>> entries = INGOT_SIMD_ENTRIES(cache_store<policy>);
  return entries;
}

template <CachePolicy policy>
const SimdEntries<CacheRead<policy>>& cache_read_simd() {
  static const SimdEntries<CacheRead<policy>> entries = INGOT_SIMD_ENTRIES(cache_read<policy>);
  return entries;
}

template const SimdEntries<StoreContiguous>& cache_store_simd<CachePolicy::contiguous>();
template const SimdEntries<StoreRing>& cache_store_simd<CachePolicy::ring>();
template const SimdEntries<StorePaged>& cache_store_simd<CachePolicy::paged>();
template const SimdEntries<ReadContiguous>& cache_read_simd<CachePolicy::contiguous>();
template const SimdEntries<ReadRing>& cache_read_simd<CachePolicy::ring>();
template const SimdEntries<ReadPaged>& cache_read_simd<CachePolicy::paged>();

const SimdEntries<CopyPages> copy_pages_simd = INGOT_SIMD_ENTRIES(copy_pages);

}  // namespace ingot
#endif
