// Vector Adam. Out of cache it moves seven streams and nothing else matters; in cache the root and the quotient do.
#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/adam_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/direction-inl.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

enum class Decay { coupled, decoupled };

template <Decay Kind>
struct AdamRule {
  float beta1, rest1, beta2, rest2, epsilon, coupled_decay, kept, step_size, root_scale;

  AdamRule(const AdamArguments& a, const AdamConstants& constants)
      : beta1(static_cast<float>(a.beta1)),
        rest1(static_cast<float>(1 - a.beta1)),
        beta2(static_cast<float>(a.beta2)),
        rest2(static_cast<float>(1 - a.beta2)),
        epsilon(static_cast<float>(a.epsilon)),
        coupled_decay(static_cast<float>(constants.coupled_decay)),
        kept(static_cast<float>(constants.kept)),
        step_size(static_cast<float>(constants.step_size)),
        root_scale(static_cast<float>(constants.root_scale)) {}

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read& read, State& state) const {
    auto& [parameter, m, v] = state;
    auto g = read[0];
    auto base = parameter;
    if constexpr (Kind == Decay::coupled) {
      g = hn::MulAdd(hn::Set(d, coupled_decay), parameter, g);
    } else {
      base = hn::Mul(hn::Set(d, kept), parameter);
    }
    m = hn::MulAdd(hn::Set(d, beta1), m, hn::Mul(hn::Set(d, rest1), g));
    v = hn::MulAdd(hn::Set(d, beta2), v, hn::Mul(hn::Mul(hn::Set(d, rest2), g), g));
    parameter = hn::NegMulAdd(hn::Set(d, step_size), direction_of(d, m, v, root_scale, epsilon), base);
  }
};

void adam(const AdamArguments& a, Context& context) {
  update_rows<1, 3>(context, {a.gradient}, {a.parameters, a.first_moment, a.second_moment},
                    AdamRule<Decay::coupled>(a, AdamConstants::coupled(a)));
}

void adamw(const AdamArguments& a, Context& context) {
  update_rows<1, 3>(context, {a.gradient}, {a.parameters, a.first_moment, a.second_moment},
                    AdamRule<Decay::decoupled>(a, AdamConstants::decoupled(a)));
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Adam> adam_simd = INGOT_SIMD_ENTRIES(adam);
const SimdEntries<AdamW> adamw_simd = INGOT_SIMD_ENTRIES(adamw);
}  // namespace ingot
#endif
