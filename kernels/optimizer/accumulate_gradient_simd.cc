#include "kernels/optimizer/accumulate_gradient.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/accumulate_gradient_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct AccumulateRule {
  float scale;

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read& read, State& state) const {
    state[0] = hn::MulAdd(hn::Set(d, scale), read[0], state[0]);
  }
};

void accumulate_gradient(const AccumulateGradient::Arguments& a, Context& context) {
  update_rows<1, 1>(context, {a.gradient}, {a.accumulator}, AccumulateRule{static_cast<float>(a.scale)});
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<AccumulateGradient> accumulate_gradient_simd = INGOT_SIMD_ENTRIES(accumulate_gradient);
}  // namespace ingot
#endif
