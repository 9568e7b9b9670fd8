// Vector angles and rotation, shared by the rotary vector sources. Included after hwy/highway.h; the guard toggles with
// each target.
#if defined(INGOT_KERNELS_POSITION_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_POSITION_TURN_INL_H_
#undef INGOT_KERNELS_POSITION_TURN_INL_H_
#else
#define INGOT_KERNELS_POSITION_TURN_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Cosine and sine in double of angles below 2^20 in size, to about 1e-14.
//
// angle = n pi/2 + r with |r| <= pi/4. The first part of pi/2 has 33 bits, so n times it is exact below n = 2^20; the
// second is what is left of pi/2. Taylor polynomials of r; then n mod 4 says which of the two is which, and its sign.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE void cosine_and_sine(D d, V angle, V& cosine, V& sine) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto one = hn::Set(d, 1.0);
  const auto n = hn::Round(hn::Mul(angle, hn::Set(d, 0.63661977236758134308)));
  auto r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417), angle);
  r = hn::NegMulAdd(n, hn::Set(d, 6.07710050650619224932e-11), r);
  const auto r2 = hn::Mul(r, r);
  auto s = hn::Set(d, 1.0 / 6227020800);
  s = hn::MulAdd(s, r2, hn::Set(d, -1.0 / 39916800));
  s = hn::MulAdd(s, r2, hn::Set(d, 1.0 / 362880));
  s = hn::MulAdd(s, r2, hn::Set(d, -1.0 / 5040));
  s = hn::MulAdd(s, r2, hn::Set(d, 1.0 / 120));
  s = hn::MulAdd(s, r2, hn::Set(d, -1.0 / 6));
  s = hn::MulAdd(hn::Mul(s, r2), r, r);
  auto c = hn::Set(d, -1.0 / 87178291200);
  c = hn::MulAdd(c, r2, hn::Set(d, 1.0 / 479001600));
  c = hn::MulAdd(c, r2, hn::Set(d, -1.0 / 3628800));
  c = hn::MulAdd(c, r2, hn::Set(d, 1.0 / 40320));
  c = hn::MulAdd(c, r2, hn::Set(d, -1.0 / 720));
  c = hn::MulAdd(c, r2, hn::Set(d, 1.0 / 24));
  c = hn::MulAdd(c, r2, hn::Set(d, -0.5));
  c = hn::MulAdd(c, r2, one);
  // Quarter turns, 0 to 3: odd ones swap the two; the signs of the results follow the quadrant.
  const auto quarter = hn::NegMulAdd(hn::Floor(hn::Mul(n, hn::Set(d, 0.25))), hn::Set(d, 4.0), n);
  const auto is_one = hn::Eq(quarter, one);
  const auto is_two = hn::Eq(quarter, hn::Set(d, 2.0));
  const auto is_three = hn::Eq(quarter, hn::Set(d, 3.0));
  const auto swaps = hn::Or(is_one, is_three);
  cosine = hn::IfThenElse(swaps, s, c);
  sine = hn::IfThenElse(swaps, c, s);
  cosine = hn::IfThenElse(hn::Or(is_one, is_two), hn::Neg(cosine), cosine);
  sine = hn::IfThenElse(hn::Or(is_two, is_three), hn::Neg(sine), sine);
}

// Fills cosine[i] and sine[i] for pairs [begin, end). Whole vectors are read and written, so up to turn_padding
// elements behind `end` must exist and are overwritten.

inline void fill_turns(const double* frequencies, std::int64_t begin, std::int64_t end, std::int64_t position,
                       double magnitude, float* cosine, float* sine) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto at = hn::Set(d, static_cast<double>(position));
  const auto scale = hn::Set(d, magnitude);
  for (std::int64_t i = begin; i < end; i += lanes) {
    const auto angle = hn::Mul(at, hn::LoadU(d, frequencies + i));
    if (!hn::AllTrue(d, hn::Lt(hn::Abs(angle), hn::Set(d, 1048576.0)))) {
      for (std::int64_t pair = i; pair < std::min(i + lanes, end); ++pair) {
        const Turn turn = turn_of(position, frequencies[pair], magnitude);
        cosine[pair] = static_cast<float>(turn.cosine);
        sine[pair] = static_cast<float>(turn.sine);
      }
      continue;
    }
    auto c = angle;
    auto s = angle;
    cosine_and_sine(d, angle, c, s);
    hn::StoreU(hn::DemoteTo(df, hn::Mul(c, scale)), df, cosine + i);
    hn::StoreU(hn::DemoteTo(df, hn::Mul(s, scale)), df, sine + i);
  }
}

// One head turned; y may be x. sign is -1 to turn backwards.
template <PairStyle style>
void turn_head(const float* x, float* y, std::int64_t width, std::int64_t pairs, const float* cosine, const float* sine,
               float sign) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto turning = hn::Set(d, sign);
  std::int64_t i = 0;
  for (; i + lanes <= pairs; i += lanes) {
    const auto c = hn::LoadU(d, cosine + i);
    const auto s = hn::Mul(hn::LoadU(d, sine + i), turning);
    if constexpr (style == PairStyle::half_split) {
      const auto a = hn::LoadU(d, x + i);
      const auto b = hn::LoadU(d, x + pairs + i);
      hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, y + i);
      hn::StoreU(hn::MulAdd(b, c, hn::Mul(a, s)), d, y + pairs + i);
    } else {
      auto a = c;
      auto b = c;
      hn::LoadInterleaved2(d, x + 2 * i, a, b);
      hn::StoreInterleaved2(hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(b, c, hn::Mul(a, s)), d, y + 2 * i);
    }
  }
  for (; i < pairs; ++i) {
    const std::int64_t first = style == PairStyle::half_split ? i : 2 * i;
    const std::int64_t second = style == PairStyle::half_split ? i + pairs : 2 * i + 1;
    const float a = x[first];
    const float b = x[second];
    y[first] = a * cosine[i] - b * sine[i] * sign;
    y[second] = a * sine[i] * sign + b * cosine[i];
  }
  if (y != x && width > 2 * pairs) {
    std::memcpy(y + 2 * pairs, x + 2 * pairs, static_cast<std::size_t>(width - 2 * pairs) * sizeof(float));
  }
}

// All heads of one token.
inline void turn_token(const View<const float>& x, const View<float>& y, std::int64_t token, std::int64_t pairs,
                       PairStyle style, Direction direction, const float* cosine, const float* sine) {
  const float sign = direction == Direction::forward ? 1.0f : -1.0f;
  const auto turn =
      style == PairStyle::half_split ? turn_head<PairStyle::half_split> : turn_head<PairStyle::interleaved>;
  for (std::int64_t head = 0; head < x.size(1); ++head) {
    turn(&x(token, head, 0), &y(token, head, 0), x.size(2), pairs, cosine, sine, sign);
  }
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
