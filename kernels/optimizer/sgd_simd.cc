#include "kernels/optimizer/segments.h"
#include "kernels/optimizer/sgd.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/sgd_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

enum class SgdKind { plain, momentum, nesterov };

template <SgdKind Kind>
struct SgdRule {
  float learning_rate, momentum, undamped, weight_decay;

  explicit SgdRule(const Sgd::Arguments& a)
      : learning_rate(static_cast<float>(a.learning_rate)),
        momentum(static_cast<float>(a.momentum)),
        undamped(static_cast<float>(1 - a.dampening)),
        weight_decay(static_cast<float>(a.weight_decay)) {}

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read& read, State& state) const {
    auto& parameter = state[0];
    const auto g = hn::MulAdd(hn::Set(d, weight_decay), parameter, read[0]);
    auto step = g;
    if constexpr (Kind != SgdKind::plain) {
      state[1] = hn::MulAdd(hn::Set(d, momentum), state[1], hn::Mul(hn::Set(d, undamped), g));
      step = Kind == SgdKind::nesterov ? hn::MulAdd(hn::Set(d, momentum), state[1], g) : state[1];
    }
    parameter = hn::NegMulAdd(hn::Set(d, learning_rate), step, parameter);
  }
};

void sgd(const Sgd::Arguments& a, Context& context) {
  if (!is_present(a.buffer)) {
    update_rows<1, 1>(context, {a.gradient}, {a.parameters}, SgdRule<SgdKind::plain>(a));
  } else if (a.nesterov) {
    update_rows<1, 2>(context, {a.gradient}, {a.parameters, a.buffer}, SgdRule<SgdKind::nesterov>(a));
  } else {
    update_rows<1, 2>(context, {a.gradient}, {a.parameters, a.buffer}, SgdRule<SgdKind::momentum>(a));
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Sgd> sgd_simd = INGOT_SIMD_ENTRIES(sgd);
}  // namespace ingot
#endif
