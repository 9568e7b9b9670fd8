// Rows of a cache: where they lie and how they become floats, and what queries become that meet them. Included after
// hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_ATTENTION_CACHED_CACHE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_CACHED_CACHE_ROWS_INL_H_
#undef INGOT_KERNELS_ATTENTION_CACHED_CACHE_ROWS_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_CACHED_CACHE_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/attention/cached/token_rows.h"
#include "kernels/cache/cache_view.h"
#include "kernels/cache/q8_0-inl.h"
#include "kernels/vector/activation_codes-inl.h"
#include "kernels/vector/half_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

inline constexpr std::int64_t block_of_codes = 32;

// Where a stretch of positions lies. Within a page tokens are one stride apart, so that pages are looked up once.
inline void find_rows(const ConstCacheView& cache, std::int64_t sequence, std::int64_t head, std::int64_t first,
                      std::int64_t count, TokenRows& rows) {
  rows.count = count;
  const std::int64_t row_bytes = cache.pages.byte_stride(2);
  rows.row_bytes = row_bytes;
  for (std::int64_t t = 0; t < count;) {
    const CacheSlot slot = cache.slot(sequence, first + t);
    const std::byte* at = cache.row(slot, head);
    std::int64_t left = std::min(cache.page_length() - slot.token, count - t);
    if (t == 0) rows.in_line = left;
    for (; left > 0; --left) {
      rows.row[t++] = at;
      at += row_bytes;
    }
  }
  std::fill(rows.row + count, rows.row + TokenRows::most, rows.row[count - 1]);
}

// Reads one token of one head as floats.
using LoadToken = void (*)(const std::byte* from, float* to, std::int64_t width);

inline void load_f32(const std::byte* from, float* to, std::int64_t width) {
  std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
}
inline void load_f16(const std::byte* from, float* to, std::int64_t width) {
  convert_stretch(reinterpret_cast<const Half*>(from), to, width);
}
inline void load_q8_0(const std::byte* from, float* to, std::int64_t width) {
  decode_q8_0_stretch(reinterpret_cast<const BlockQ8_0*>(from), to, width);
}

inline LoadToken load_of(DType dtype) {
  return dtype == DType::f32 ? load_f32 : dtype == DType::f16 ? load_f16 : load_q8_0;
}

inline void clear_padding(float* rows, std::int64_t count, std::int64_t stride, std::int64_t width) {
  if (stride == width) return;
  for (std::int64_t row = 0; row < count; ++row)
    std::fill(rows + row * stride + width, rows + (row + 1) * stride, 0.0f);
}

// The query as the contract rounds it for keys of that type, as floats. There is room for twice as many.
inline const float* rounded_query(DType keys, const float* query, std::int64_t count, float* room) {
  float* rounded = room + count;
  if (keys == DType::f16) {
    auto* halves = reinterpret_cast<Half*>(room);
    const RowScale scale = half_row_scale(largest_finite_magnitude(query, count));
    scale_to_halves(query, scale.to_halves, halves, count);
    convert_stretch(halves, rounded, count);
    for (std::int64_t i = 0; i < count; ++i) rounded[i] *= scale.from_halves;
    return rounded;
  }
  if (keys == DType::q8_0) {
    auto* codes = reinterpret_cast<std::int8_t*>(room);
    for (std::int64_t first = 0; first < count; first += block_of_codes) {
      const float scale = encode_activations_vector(query + first, block_of_codes, codes, nullptr);
      for (std::int64_t i = 0; i < block_of_codes; ++i) rounded[first + i] = scale * static_cast<float>(codes[i]);
    }
    return rounded;
  }
  return query;
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
