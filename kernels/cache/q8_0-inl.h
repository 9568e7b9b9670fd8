// Rows to and from q8_0 blocks, one source for every target, to the bit what tensor/block_codec.h defines. Included
// inside a vector source after hwy/highway.h; the guard toggles with each target.
#if defined(INGOT_KERNELS_CACHE_Q8_0_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_CACHE_Q8_0_INL_H_
#undef INGOT_KERNELS_CACHE_Q8_0_INL_H_
#else
#define INGOT_KERNELS_CACHE_Q8_0_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/convert-inl.h"
#include "tensor/block_formats.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

inline HWY_NOINLINE void encode_q8_0_stretch(const float* values, BlockQ8_0* blocks, std::int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> d32;
  const hn::Rebind<std::int8_t, FloatTag> d8;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  for (std::int64_t i = 0; i < count; i += 32, values += 32, ++blocks) {
    auto largest = hn::Zero(d);
    HWY_UNROLL(8)
    for (int j = 0; j < 32; j += lanes) {
      const auto value = hn::LoadU(d, values + j);
      // NaN never wins; Max alone would let it win on some targets.
      largest = hn::Max(largest, hn::IfThenElseZero(hn::Eq(value, value), hn::Abs(value)));
    }
    const float scale = hn::GetLane(hn::MaxOfLanes(d, largest)) / 127;
    const auto inverse = hn::Set(d, scale != 0 ? 1.0f / scale : 0.0f);
    blocks->scale.set(scale);
    HWY_UNROLL(8)
    for (int j = 0; j < 32; j += lanes) {
      // Half away from zero, in two steps: adding one half to a number just below a half would round up.
      const auto scaled = hn::Mul(hn::LoadU(d, values + j), inverse);
      const auto number = hn::IfThenElseZero(hn::Eq(scaled, scaled), scaled);
      const auto magnitude = hn::Min(hn::Abs(number), hn::Set(d, 127.0f));
      const auto whole = hn::Trunc(magnitude);
      const auto is_half = hn::Ge(hn::Sub(magnitude, whole), hn::Set(d, 0.5f));
      const auto rounded = hn::Add(whole, hn::IfThenElseZero(is_half, hn::Set(d, 1.0f)));
      const auto code = hn::ConvertTo(d32, hn::CopySign(rounded, number));
      hn::StoreU(hn::DemoteTo(d8, code), d8, blocks->codes + j);
    }
  }
}

inline HWY_NOINLINE void decode_q8_0_stretch(const BlockQ8_0* blocks, float* values, std::int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FloatTag d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  for (std::int64_t i = 0; i < count; i += 32, values += 32, ++blocks) {
    const auto scale = hn::Set(d, blocks->scale.value());
    HWY_UNROLL(8)
    for (int j = 0; j < 32; j += lanes) hn::StoreU(hn::Mul(load_as_float(blocks->codes + j), scale), d, values + j);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
