// activation_codes.h in vectors, the same to the bit. Included inside a vector source after hwy/highway.h; the include
// guard toggles with each target, as Highway asks of such headers.
#if defined(INGOT_KERNELS_VECTOR_ACTIVATION_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_VECTOR_ACTIVATION_CODES_INL_H_
#undef INGOT_KERNELS_VECTOR_ACTIVATION_CODES_INL_H_
#else
#define INGOT_KERNELS_VECTOR_ACTIVATION_CODES_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/activation_codes.h"
#include "tensor/block_codes.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

#if HWY_TARGET == HWY_NEON
// The codes of sixteen numbers and their sum. Codes fit into bytes, so that narrowing may drop the upper ones: two to
// one an instruction, where a vector at a time takes two for four codes.
HWY_INLINE std::int32_t encode_sixteen(const float* HWY_RESTRICT x, float inverse, std::int8_t* HWY_RESTRICT codes) {
  const auto rounded = [&](int at) __attribute__((always_inline)) {
    return vreinterpretq_s16_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + at), inverse)));
  };
  const int16x8_t first = vuzp1q_s16(rounded(0), rounded(4));
  const int16x8_t second = vuzp1q_s16(rounded(8), rounded(12));
  const int8x16_t all = vuzp1q_s8(vreinterpretq_s8_s16(first), vreinterpretq_s8_s16(second));
  vst1q_s8(codes, all);
  return vaddlvq_s8(all);
}
#endif

// Writes `block` codes (a multiple of 16), and where sums is not null the sum of each 16 of them. Returns the scale.
HWY_INLINE float encode_activations_vector(const float* HWY_RESTRICT x, int block, std::int8_t* HWY_RESTRICT codes,
                                           std::int32_t* HWY_RESTRICT sums) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  static_assert(hn::MaxLanes(d) <= code_group, "a vector must not span two groups");

  auto largest = hn::Zero(di);
  for (int i = 0; i < block; i += lanes) {
    largest = hn::Max(largest, hn::BitCast(di, hn::Abs(hn::LoadU(d, x + i))));
  }
  const auto bits = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
  const ActivationScale made = activation_scale(bits);
#if HWY_TARGET == HWY_NEON
  if (made.inverse != 0) {
    for (int first = 0; first < block; first += code_group) {
      const std::int32_t sum = encode_sixteen(x + first, made.inverse, codes + first);
      if (sums != nullptr) sums[first / code_group] = sum;
    }
    return made.scale;
  }
#endif
  // Inverse 0 gives codes 0 whatever x is, infinity and NaN included.
  const auto keep = hn::Set(di, made.inverse == 0 ? 0 : -1);
  const auto inverse = hn::Set(d, made.inverse);
  for (int first = 0; first < block; first += code_group) {
    auto sum = hn::Zero(di);
    for (int i = first; i < first + code_group; i += lanes) {
      const auto code = hn::And(hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), inverse)), keep);
      hn::StoreU(hn::DemoteTo(d8, code), d8, codes + i);
      sum = hn::Add(sum, code);
    }
    if (sums != nullptr) sums[first / code_group] = hn::GetLane(hn::SumOfLanes(di, sum));
  }
  return made.scale;
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
