// Single new tokens on NEON, four query heads to a vector. Included after hwy/highway.h; the guard toggles with each
// target.
//
// A multiply-add takes one lane of a register as the factor of all lanes, so that a key's number meets four heads at
// once, and so does a weight with a value:
//
//   scores[t][heads] = sum_i key[t][i] queries[i][heads]       lanes are heads
//   outputs[h][i]   += sum_t weights[t][h] value[t][i]         lanes are dimensions
//
// Maxima and exponentials need no work across lanes. With keys of 128 f16 a token takes 256 multiply-adds and 64
// conversions: 80 cycles of a Neoverse-V1, which issues four a cycle; memory delivers its 512 bytes in 47.
#if defined(INGOT_KERNELS_ATTENTION_CACHED_DECODE_QUADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_CACHED_DECODE_QUADS_INL_H_
#undef INGOT_KERNELS_ATTENTION_CACHED_DECODE_QUADS_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_CACHED_DECODE_QUADS_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/attention/cached/token_rows-inl.h"
#include "kernels/attention/lane_blocks-inl.h"
#include "kernels/attention/rows-inl.h"

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

#include "kernels/attention/cached/quad_products_neon-inl.h"

struct FourLanes {
  alignas(16) float lanes[4];
};
constexpr FourLanes four_lanes_of(float value) { return {{value, value, value, value}}; }
inline constexpr FourLanes exponential_constants[6] = {
    four_lanes_of(brisk_exp_terms[0]), four_lanes_of(brisk_exp_terms[1]), four_lanes_of(brisk_exp_terms[2]),
    four_lanes_of(brisk_exp_terms[3]), four_lanes_of(brisk_exp_terms[4]), four_lanes_of(brisk_exp_rounding)};

// brisk_exp_of_nonpositive for four vectors side by side, because it is one long chain. A multiply-add overwrites the
// constant that it adds to: that is loaded anew each time, where compilers would copy it from a register, which takes a
// slot of the vector pipes (22 instructions for a vector instead of 13).
class FourExponentials {
 public:
  HWY_INLINE FourExponentials() { __asm__("" : "+r"(constants_)); }

  // values[i] = e^(values[i] - taken), where that is not above 1.
  HWY_INLINE void operator()(float32x4_t taken, float32x4_t (&values)[4]) const {
    float32x4_t shifted[4], powers[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      // FMAX hands NaN on.
      values[i] = vmaxq_f32(vsubq_f32(values[i], taken), vdupq_n_f32(lowest_brisk_exponent));
      shifted[i] = vfmaq_f32(anew(5), values[i], vdupq_n_f32(1.44269504088896341f));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const float32x4_t n = vsubq_f32(shifted[i], vdupq_n_f32(brisk_exp_rounding));
      values[i] = vfmaq_f32(values[i], n, vdupq_n_f32(-0.69314718056f));
      powers[i] = vfmaq_f32(anew(4), values[i], vdupq_n_f32(brisk_exp_terms[5]));
    }
#pragma GCC unroll 4
    for (int term = 3; term >= 0; --term) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) powers[i] = vfmaq_f32(anew(term), powers[i], values[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      values[i] = vmulq_f32(powers[i], vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(shifted[i]), 23)));
    }
  }

 private:
  HWY_INLINE float32x4_t anew(int index) const {
    float32x4_t constant;
    __asm__ volatile("ldr %q0, %1" : "=w"(constant) : "m"(constants_[index]));
    return constant;
  }
  const FourLanes* constants_ = exponential_constants;
};

// Four heads' scores of a tile to weights, in place; the running maximum and sum of each move on. The first token is
// `distance` positions before the query. Decays are what is left of everything before.
inline void weigh_quad(const Decode::Arguments& a, QuadVector slopes, std::int64_t distance, std::int64_t count,
                       float* scores, float* maximum, float* sum, float* decays) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full128<float> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto scale = hn::Set(d, a.scale);
  const bool has_slopes = is_present(a.alibi_slopes);
  const bool is_bounded = a.softcap > 0;
  const auto before = hn::LoadU(d, maximum);
  auto finish = [&](std::int64_t t) HWY_ATTR {
    auto score = hn::Mul(hn::LoadU(d, scores + t * quad), scale);
    if (is_bounded) {
      const auto cap = hn::Set(d, a.softcap);
      score = hn::Mul(cap, tanh_of(d, hn::Div(score, cap)));
    }
    if (has_slopes) score = hn::NegMulAdd(slopes, hn::Set(d, static_cast<float>(distance - t)), score);
    hn::StoreU(score, d, scores + t * quad);
    return score;
  };
  QuadVector maxima[4] = {before, before, before, before};
  std::int64_t finished = 0;
  for (; finished + 4 <= count; finished += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) maxima[i] = hn::Max(maxima[i], finish(finished + i));
  }
  for (; finished < count; ++finished) maxima[0] = hn::Max(maxima[0], finish(finished));
  const auto greatest = hn::Max(hn::Max(maxima[0], maxima[1]), hn::Max(maxima[2], maxima[3]));
  // Whole fours of tokens, side by side: an exponential is one long chain.
  for (std::int64_t t = count; t % 4 != 0; ++t) hn::StoreU(lowest, d, scores + t * quad);
  const auto taken = hn::IfThenElse(hn::Eq(greatest, lowest), hn::Zero(d), greatest);
  QuadVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const FourExponentials exponentials_of;
  for (std::int64_t t = 0; t < count; t += 4) {
    float32x4_t weights[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) weights[i] = vld1q_f32(scores + (t + i) * quad);
    exponentials_of(taken.raw, weights);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      vst1q_f32(scores + (t + i) * quad, weights[i]);
      sums[i] = hn::Add(sums[i], QuadVector{weights[i]});
    }
  }
  const auto decay = brisk_exp_of_nonpositive(d, hn::Sub(before, taken));
  const auto total = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  hn::StoreU(hn::MulAdd(hn::LoadU(d, sum), decay, total), d, sum);
  hn::StoreU(greatest, d, maximum);
  hn::StoreU(decay, d, decays);
}

// Rows as the products of quads take them.
template <class Row>
struct RawRow {
  Row row;
  HWY_INLINE RawRow(const TokenRows& rows, std::int64_t token) : row(rows, token) {}
  HWY_INLINE float32x4_t at(std::int64_t i) const { return row.at(i).raw; }
};

// Weighs a tile for all heads of a group, `quads` times four.
inline void weigh_quads(const Decode::Arguments& a, const DecodePlan& plan, std::int64_t key_head,
                        std::int64_t distance, std::int64_t count, float* scores, const Partial& partial) {
  namespace hn = hwy::HWY_NAMESPACE;
  for (std::int64_t first = 0; first < plan.room; first += quad) {
    HWY_ALIGN float slopes[quad] = {};
    for (std::int64_t g = first; is_present(a.alibi_slopes) && g < std::min(first + quad, plan.head_group); ++g) {
      slopes[g - first] = a.alibi_slopes(key_head * plan.head_group + g);
    }
    HWY_ALIGN float decays[quad];
    weigh_quad(a, hn::Load(hn::Full128<float>(), slopes), distance, count, scores + first * token_tile,
               partial.maximum + first, partial.sum + first, decays);
    for (std::int64_t h = 0; h < quad; ++h) {
      if (decays[h] != 1.0f)
        scale_outputs(partial.outputs + (first + h) * plan.value_width, plan.value_width, decays[h]);
    }
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggling guard
