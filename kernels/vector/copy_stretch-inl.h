// A stretch of bytes copied or zeroed by vector loads and stores, one source for every target. Included inside a vector
// source after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_VECTOR_COPY_STRETCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_COPY_STRETCH_INL_H_
#undef INGOT_KERNELS_VECTOR_COPY_STRETCH_INL_H_
#else
#define INGOT_KERNELS_VECTOR_COPY_STRETCH_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Two overlapping stores cover any length between one and two words. Precondition: sizeof(Word) <= bytes <= 2 words.
template <class Word>
HWY_INLINE void copy_two_words(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  Word first;
  Word second;
  const auto size = static_cast<std::int64_t>(sizeof(Word));
  std::memcpy(&first, from, sizeof(Word));
  std::memcpy(&second, from + bytes - size, sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(to + bytes - size, &second, sizeof(Word));
}

// Precondition: the two do not overlap. Non-temporal stores are left out: they would pay only for tensors beyond the
// last-level cache, and what is copied is nearly always read next.
inline HWY_NOINLINE void copy_stretch(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  if (bytes >= lanes) {
    const auto last = hn::LoadU(d, from + bytes - lanes);
    std::int64_t i = 0;
    for (; i + 4 * lanes <= bytes; i += 4 * lanes) {
      const auto v0 = hn::LoadU(d, from + i);
      const auto v1 = hn::LoadU(d, from + i + lanes);
      const auto v2 = hn::LoadU(d, from + i + 2 * lanes);
      const auto v3 = hn::LoadU(d, from + i + 3 * lanes);
      hn::StoreU(v0, d, to + i);
      hn::StoreU(v1, d, to + i + lanes);
      hn::StoreU(v2, d, to + i + 2 * lanes);
      hn::StoreU(v3, d, to + i + 3 * lanes);
    }
    for (; i + lanes <= bytes; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(last, d, to + bytes - lanes);
    return;
  }
  // Shorter than a vector, which has at most 64 bytes.
  const hn::FixedTag<std::uint8_t, 16> d16;
  if (bytes >= 16) {
    for (std::int64_t i = 0; i + 16 <= bytes; i += 16) hn::StoreU(hn::LoadU(d16, from + i), d16, to + i);
    hn::StoreU(hn::LoadU(d16, from + bytes - 16), d16, to + bytes - 16);
  } else if (bytes >= 8) {
    copy_two_words<std::uint64_t>(from, to, bytes);
  } else if (bytes >= 4) {
    copy_two_words<std::uint32_t>(from, to, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

HWY_INLINE void copy_stretch(const std::byte* from, std::byte* to, std::int64_t bytes) {
  copy_stretch(reinterpret_cast<const std::uint8_t*>(from), reinterpret_cast<std::uint8_t*>(to), bytes);
}

inline HWY_NOINLINE void zero_stretch(std::byte* to, std::int64_t bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  auto* target = reinterpret_cast<std::uint8_t*>(to);
  const auto zero = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 4 * lanes <= bytes; i += 4 * lanes) {
    hn::StoreU(zero, d, target + i);
    hn::StoreU(zero, d, target + i + lanes);
    hn::StoreU(zero, d, target + i + 2 * lanes);
    hn::StoreU(zero, d, target + i + 3 * lanes);
  }
  for (; i + lanes <= bytes; i += lanes) hn::StoreU(zero, d, target + i);
  for (; i < bytes; ++i) target[i] = 0;
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
