#include "kernels/optimizer/lion.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/lion_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// sign(a x + b y), where the products are exact in double, and so is the sign of their sum.
template <class DF, class VF>
HWY_INLINE VF exact_sign_of(DF half, VF x, VF y, float a, float b) {
  const hn::Rebind<double, DF> d;
  const auto sum =
      hn::MulAdd(hn::PromoteTo(d, x), hn::Set(d, double{a}), hn::Mul(hn::PromoteTo(d, y), hn::Set(d, double{b})));
  const auto zero = hn::Zero(d);
  const auto not_above = hn::IfThenElse(hn::Lt(sum, zero), hn::Set(d, -1.0), sum);  // keeps zero and NaN
  return hn::DemoteTo(half, hn::IfThenElse(hn::Gt(sum, zero), hn::Set(d, 1.0), not_above));
}

struct LionRule {
  float learning_rate, beta1, rest1, beta2, rest2, kept;

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read& read, State& state) const {
    auto& [parameter, momentum] = state;
    const auto g = read[0];
    const hn::Half<D> half;
    const auto lower = exact_sign_of(half, hn::LowerHalf(half, momentum), hn::LowerHalf(half, g), beta1, rest1);
    const auto upper = exact_sign_of(half, hn::UpperHalf(half, momentum), hn::UpperHalf(half, g), beta1, rest1);
    const auto base = hn::Mul(hn::Set(d, kept), parameter);
    parameter = hn::NegMulAdd(hn::Set(d, learning_rate), hn::Combine(d, upper, lower), base);
    momentum = hn::MulAdd(hn::Set(d, beta2), momentum, hn::Mul(hn::Set(d, rest2), g));
  }
};

void lion(const Lion::Arguments& a, Context& context) {
  const LionRule rule = {.learning_rate = static_cast<float>(a.learning_rate),
                         .beta1 = static_cast<float>(a.beta1),
                         .rest1 = static_cast<float>(1 - a.beta1),
                         .beta2 = static_cast<float>(a.beta2),
                         .rest2 = static_cast<float>(1 - a.beta2),
                         .kept = static_cast<float>(1 - a.learning_rate * a.weight_decay)};
  update_rows<1, 2>(context, {a.gradient}, {a.parameters, a.momentum}, rule);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Lion> lion_simd = INGOT_SIMD_ENTRIES(lion);
}  // namespace ingot
#endif
