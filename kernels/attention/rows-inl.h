// Vector passes over rows of any length, shared by softmax and attention. Included after hwy/highway.h; the guard
// toggles with each target.
#if defined(INGOT_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_ROWS_INL_H_
#undef INGOT_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// The next vector of a row with `left` elements left. The last one goes through a buffer, so that nothing behind the
// row is touched and its elements meet the same arithmetic as all others.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_some(D d, const float* from, std::int64_t left, float filler) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (HWY_LIKELY(left >= lanes)) return hn::LoadU(d, from);
  HWY_ALIGN float buffer[hn::MaxLanes(d)];
  hn::Store(hn::Set(d, filler), d, buffer);
  // Not one loop that chooses: compilers make a masked load of it, of which emulators read all lanes.
  for (std::int64_t lane = 0; lane < left; ++lane) buffer[lane] = from[lane];
  return hn::Load(d, buffer);
}

template <class D, class V>
HWY_INLINE void store_some(D d, V vector, float* to, std::int64_t left) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (HWY_LIKELY(left >= static_cast<std::int64_t>(hn::Lanes(d)))) {
    hn::StoreU(vector, d, to);
    return;
  }
  HWY_ALIGN float buffer[hn::MaxLanes(d)];
  hn::Store(vector, d, buffer);
  for (std::int64_t lane = 0; lane < left; ++lane) to[lane] = buffer[lane];
}

// Scales a row of whole vectors.
inline void scale_outputs(float* row, std::int64_t width, float factor) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  for (std::int64_t i = 0; i < width; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), by), d, row + i);
}

// What to take out of a row before exponentials: its maximum, or 0 where that is -infinity. A NaN may be lost here; it
// comes back with the sum.
inline float taken_out(float maximum) { return maximum == -std::numeric_limits<float>::infinity() ? 0.0f : maximum; }

enum class Exponential : std::uint8_t { exact, brisk };

// to[j] = e^(from[j] - taken); returns their sum. from may be to; a null `to` keeps the sum alone.
template <Exponential kind = Exponential::exact>
inline float exponentials(const float* from, float* to, std::int64_t length, float taken) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, taken);
  auto sum = hn::Zero(d);
  for (std::int64_t i = 0; i < length; i += lanes) {
    const auto score = load_some(d, from + i, length - i, -std::numeric_limits<float>::infinity());
    const auto x = hn::Sub(score, shift);
    const auto weight = kind == Exponential::brisk ? brisk_exp_of_nonpositive(d, x) : exp_of_nonpositive(d, x);
    sum = hn::Add(sum, weight);
    if (to != nullptr) store_some(d, weight, to + i, length - i);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// Sum of left[j] right[j], or of left alone where `right` is null. Pieces of a row are summed in float by four sums
// that hide latency, and pieces in double: terms of a long row may cancel, and their rounding must not grow with its
// length.
inline float sum_of_products(const float* left, const float* right, std::int64_t length) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, 1.0f);
  auto term = [&](std::int64_t i, hn::Vec<decltype(d)> sum) HWY_ATTR {
    const auto by = right != nullptr ? load_some(d, right + i, length - i, 0.0f) : one;
    return hn::MulAdd(load_some(d, left + i, length - i, 0.0f), by, sum);
  };
  constexpr std::int64_t piece = 1024;
  double total = 0;
  for (std::int64_t begin = 0; begin < length; begin += piece) {
    const std::int64_t end = std::min(begin + piece, length);
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    std::int64_t i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      sum0 = term(i, sum0);
      sum1 = term(i + lanes, sum1);
      sum2 = term(i + 2 * lanes, sum2);
      sum3 = term(i + 3 * lanes, sum3);
    }
    for (; i < end; i += lanes) sum0 = term(i, sum0);
    total += double{hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))))};
  }
  return static_cast<float>(total);
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
