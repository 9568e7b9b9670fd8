// Sums over a row. What is summed is a small type: sum = term(d, inputs, sum) adds the terms of one vector of inputs.
#if defined(INGOT_KERNELS_NORM_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_NORM_ROW_SUMS_INL_H_
#undef INGOT_KERNELS_NORM_ROW_SUMS_INL_H_
#else
#define INGOT_KERNELS_NORM_ROW_SUMS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/tensor_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// Four accumulators hide the latency of an addition (4 cycles, 1 or 2 a cycle). The inputs' missing lanes at the end of
// a row are `padding`, whose term must be zero. Lanes are added in a fixed order. After this many elements the float
// sums go over into a double, so that long rows lose no more precision than short ones.
inline constexpr std::int64_t sum_block = 1024;

template <std::size_t Inputs, class Term>
HWY_INLINE float sum_block_of(const Sources<Inputs>& in, std::int64_t begin, std::int64_t end, const Term& term,
                              float padding) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto add_at = [&](std::int64_t at, V sum) HWY_ATTR {
    V values[Inputs];
    for (std::size_t k = 0; k < Inputs; ++k) values[k] = hn::LoadU(d, in[k] + at);
    return term(d, values, sum);
  };
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::int64_t i = begin;
  for (; i + 4 * lanes <= end; i += 4 * lanes) {
    sum0 = add_at(i, sum0);
    sum1 = add_at(i + lanes, sum1);
    sum2 = add_at(i + 2 * lanes, sum2);
    sum3 = add_at(i + 3 * lanes, sum3);
  }
  for (; i + lanes <= end; i += lanes) sum0 = add_at(i, sum0);
  if (i < end) {
    V values[Inputs];
    for (std::size_t k = 0; k < Inputs; ++k) {
      HWY_ALIGN float buffer[hn::MaxLanes(d)];
      std::fill_n(buffer, hn::MaxLanes(d), padding);
      std::copy(in[k] + i, in[k] + end, buffer);
      values[k] = hn::Load(d, buffer);
    }
    sum0 = term(d, values, sum0);
  }
  sum0 = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  return hn::GetLane(hn::SumOfLanes(d, sum0));
}

template <std::size_t Inputs, class Term>
HWY_INLINE double sum_stretch(const Sources<Inputs>& in, std::int64_t length, const Term& term, float padding = 0) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < length; begin += sum_block) {
    sum += sum_block_of(in, begin, std::min(length, begin + sum_block), term, padding);
  }
  return sum;
}

// x
struct Plain {
  template <class D, class V>
  HWY_INLINE V operator()(D, const V* x, V sum) const {
    return hwy::HWY_NAMESPACE::Add(x[0], sum);
  }
};

// (x - center)^2; its padding is the center
struct SquaredDistance {
  float center;
  template <class D, class V>
  HWY_INLINE V operator()(D d, const V* x, V sum) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto distance = hn::Sub(x[0], hn::Set(d, center));
    return hn::MulAdd(distance, distance, sum);
  }
};

// x[0] x[0]
struct Square {
  template <class D, class V>
  HWY_INLINE V operator()(D, const V* x, V sum) const {
    return hwy::HWY_NAMESPACE::MulAdd(x[0], x[0], sum);
  }
};

// x[0] x[1] ...
template <std::size_t Inputs>
struct Product {
  template <class D, class V>
  HWY_INLINE V operator()(D, const V* x, V sum) const {
    namespace hn = hwy::HWY_NAMESPACE;
    V product = x[0];
    for (std::size_t k = 1; k + 1 < Inputs; ++k) product = hn::Mul(product, x[k]);
    return hn::MulAdd(product, x[Inputs - 1], sum);
  }
};

// The sum of squares, for adding `epsilon` to its mean. Float squares leave their range beyond 1e19 and below 1e-19:
// rows where that shows in the result are summed again, one by one, in double.
inline double sum_of_squares(const float* x, std::int64_t length, float epsilon) {
  const double sum = sum_stretch<1>({x}, length, Square());
  if (sum <= 1e37 && (sum >= 1e-25 || epsilon >= 1e-18f)) return sum;
  double careful = 0;
  for (std::int64_t i = 0; i < length; ++i) careful += double{x[i]} * x[i];
  return careful;
}

struct Moments {
  double mean;
  double variance;
};

// In two passes, so that a large mean does not drown the variance; in double where float sums leave their range.
inline Moments moments_of(const float* x, std::int64_t length) {
  const auto count = static_cast<double>(length);
  double mean = sum_stretch<1>({x}, length, Plain()) / count;
  const auto center = static_cast<float>(mean);
  const double squares = sum_stretch<1>({x}, length, SquaredDistance{center}, center);
  if (squares <= 1e37) {
    const double shift = mean - center;
    return {mean, std::max(0.0, squares / count - shift * shift)};
  }
  mean = 0;
  for (std::int64_t i = 0; i < length; ++i) mean += x[i];
  mean /= count;
  double variance = 0;
  for (std::int64_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean);
  return {mean, variance / count};
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
