// Rows of any small type to and from vectors of f32, one source for every target: what cast, gather_rows and the KV
// cache are made of. Included inside a vector source after hwy/highway.h; the guard toggles with each target.
//
// Highway's own conversions to f16 (on targets without the instruction) and to bf16 truncate; these round to nearest
// even, as tensor/half.h does.
#if defined(INGOT_KERNELS_VECTOR_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_CONVERT_INL_H_
#undef INGOT_KERNELS_VECTOR_CONVERT_INL_H_
#else
#define INGOT_KERNELS_VECTOR_CONVERT_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

using FloatTag = hwy::HWY_NAMESPACE::ScalableTag<float>;
using FloatVector = hwy::HWY_NAMESPACE::Vec<FloatTag>;

HWY_INLINE FloatVector load_as_float(const float* p) { return hwy::HWY_NAMESPACE::LoadU(FloatTag(), p); }

HWY_INLINE FloatVector load_as_float(const BFloat16* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(p)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

HWY_INLINE FloatVector load_as_float(const Half* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
#if HWY_TARGET == HWY_SSE4
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(p)));
  const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fff));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  // The exponents differ by 112; multiplying instead of adding makes subnormals come out right as well.
  const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto is_special = hn::VecFromMask(d32, hn::Gt(magnitude, hn::Set(d32, 0x7bff)));
  const auto special = hn::And(is_special, hn::Set(d32, 0x7f800000));
  return hn::BitCast(d, hn::Or(hn::BitCast(d32, scaled), hn::Or(sign, special)));
#else
  const hn::Rebind<hwy::float16_t, FloatTag> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(p)));
#endif
}

HWY_INLINE FloatVector load_as_float(const std::int8_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<FloatTag> d32;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::int8_t, FloatTag>(), p)));
}

HWY_INLINE FloatVector load_as_float(const std::uint8_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<FloatTag> d32;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::uint8_t, FloatTag>(), p)));
}

HWY_INLINE FloatVector load_as_float(const std::int32_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::ConvertTo(FloatTag(), hn::LoadU(hn::RebindToSigned<FloatTag>(), p));
}

HWY_INLINE void store_from_float(FloatVector v, float* p) { hwy::HWY_NAMESPACE::StoreU(v, FloatTag(), p); }

HWY_INLINE void store_from_float(FloatVector v, BFloat16* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::RebindToSigned<FloatTag> di;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
  const auto chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, chosen)), d16, reinterpret_cast<std::uint16_t*>(p));
}

HWY_INLINE void store_from_float(FloatVector v, Half* p) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SSE4
  // The branches of half_bits_from_float, all taken, and one chosen.
  const FloatTag d;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::RebindToSigned<FloatTag> di;
  const auto bits = hn::BitCast(di, v);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
  const auto sign = hn::BitCast(di, hn::ShiftRight<16>(hn::BitCast(du, hn::Xor(bits, magnitude))));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(di, 0x38000000 - 0xfff)), odd));
  const auto shifted = hn::BitCast(di, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f)));
  const auto small = hn::Sub(shifted, hn::Set(di, 0x3f000000));
  const auto nan = hn::Or(hn::Set(di, 0x7e00), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 0x3ff)));
  auto chosen = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x38800000)), small, normal);
  chosen = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x477fffff)), hn::Set(di, 0x7c00), chosen);
  chosen = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7f800000)), nan, chosen);
  hn::StoreU(hn::DemoteTo(d16, hn::Or(chosen, sign)), d16, reinterpret_cast<std::uint16_t*>(p));
#else
  const hn::Rebind<hwy::float16_t, FloatTag> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(p));
#endif
}

// NaN becomes 0; the rest is clamped, so that the conversion toward zero cannot overflow.
HWY_INLINE auto integers_between(FloatVector v, float low, float high) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const auto number = hn::IfThenElseZero(hn::Eq(v, v), v);
  const auto bounded = hn::Min(hn::Max(number, hn::Set(d, low)), hn::Set(d, high));
  return hn::ConvertTo(hn::RebindToSigned<FloatTag>(), bounded);
}

HWY_INLINE void store_from_float(FloatVector v, std::int8_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::int8_t, FloatTag> d8;
  hn::StoreU(hn::DemoteTo(d8, integers_between(v, -128.0f, 127.0f)), d8, p);
}

HWY_INLINE void store_from_float(FloatVector v, std::uint8_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  hn::StoreU(hn::DemoteTo(d8, integers_between(v, 0.0f, 255.0f)), d8, p);
}

HWY_INLINE void store_from_float(FloatVector v, std::int32_t* p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  // 2^31 - 128 is the largest f32 below 2^31; what is above becomes the largest integer.
  const auto integers = integers_between(v, -2147483648.0f, 2147483520.0f);
  const auto is_above = hn::RebindMask(di, hn::Ge(v, hn::Set(d, 2147483648.0f)));
  hn::StoreU(hn::IfThenElse(is_above, hn::Set(di, 0x7fffffff), integers), di, p);
}

// A stretch of numbers. The last few go through a buffer, so that every element takes the same instructions.
template <class From, class To>
HWY_NOINLINE void convert_stretch(const From* from, To* to, std::int64_t count) {
  constexpr auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::MaxLanes(FloatTag()));
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const auto v0 = load_as_float(from + i);
    const auto v1 = load_as_float(from + i + lanes);
    const auto v2 = load_as_float(from + i + 2 * lanes);
    const auto v3 = load_as_float(from + i + 3 * lanes);
    store_from_float(v0, to + i);
    store_from_float(v1, to + i + lanes);
    store_from_float(v2, to + i + 2 * lanes);
    store_from_float(v3, to + i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) store_from_float(load_as_float(from + i), to + i);
  if (i == count) return;
  From source[lanes] = {};
  To target[lanes];
  const auto rest = static_cast<std::size_t>(count - i);
  std::memcpy(source, from + i, rest * sizeof(From));
  store_from_float(load_as_float(source), target);
  std::memcpy(to + i, target, rest * sizeof(To));
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
