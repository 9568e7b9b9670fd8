// Vector maps: y[i] = function(x0[i], x1[i], ...) over a stretch of elements. Included inside a vector source after
// hwy/highway.h; the include guard toggles with each target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_VECTOR_STRETCH_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_STRETCH_MAP_INL_H_
#undef INGOT_KERNELS_VECTOR_STRETCH_MAP_INL_H_
#else
#define INGOT_KERNELS_VECTOR_STRETCH_MAP_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// Where a map's operand comes from: memory, or one value for all.
struct FromMemory {
  const float* data;

  template <class D>
  HWY_INLINE auto load(D d, std::int64_t i) const {
    return hwy::HWY_NAMESPACE::LoadU(d, data + i);
  }
  // Only `count` elements; the other lanes are 1, which no operation here finds exceptional.
  template <class D>
  HWY_INLINE auto load_part(D d, std::int64_t i, std::int64_t count) const {
    HWY_ALIGN float lanes[HWY_LANES(float)];
    for (std::size_t lane = 0; lane < HWY_LANES(float); ++lane) lanes[lane] = 1;
    for (std::int64_t lane = 0; lane < count; ++lane) lanes[lane] = data[i + lane];
    return hwy::HWY_NAMESPACE::Load(d, lanes);
  }
};

struct Repeated {
  float value;

  template <class D>
  HWY_INLINE auto load(D d, std::int64_t) const {
    return hwy::HWY_NAMESPACE::Set(d, value);
  }
  template <class D>
  HWY_INLINE auto load_part(D d, std::int64_t, std::int64_t) const {
    return hwy::HWY_NAMESPACE::Set(d, value);
  }
};

struct Identity {
  template <class D, class V>
  HWY_INLINE V operator()(D, V value) const {
    return value;
  }
};

// Fewer elements than a vector, through a buffer: the same vector code gives them the same results.
template <class D, class Function, class... Sources>
HWY_INLINE void map_part(D d, const Function& function, float* y, std::int64_t i, std::int64_t count,
                         const Sources&... sources) {
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hwy::HWY_NAMESPACE::Store(function(d, sources.load_part(d, i, count)...), d, lanes);
  for (std::int64_t lane = 0; lane < count; ++lane) y[i + lane] = lanes[lane];
}

template <class Function, class... Sources>
HWY_INLINE void map_stretch(const Function& function, float* y, std::int64_t length, const Sources&... sources) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= length; i += lanes) hn::StoreU(function(d, sources.load(d, i)...), d, y + i);
  if (i < length) map_part(d, function, y, i, length - i, sources...);
}

// The same with stores that go past the caches, for outputs that no cache would hold until they are read: an ordinary
// store first fetches the line it overwrites, a third more traffic for an addition.
template <class Function, class... Sources>
HWY_INLINE void map_stretch_streaming(const Function& function, float* y, std::int64_t length,
                                      const Sources&... sources) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y) / sizeof(float)) % lanes;
  std::int64_t i = misaligned == 0 ? 0 : HWY_MIN(lanes - misaligned, length);
  if (i > 0) map_part(d, function, y, 0, i, sources...);
  for (; i + lanes <= length; i += lanes) hn::Stream(function(d, sources.load(d, i)...), d, y + i);
  if (i < length) map_part(d, function, y, i, length - i, sources...);
  hwy::FlushStream();  // other threads see the stores when the piece is reported done
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
