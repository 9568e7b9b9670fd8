#include "kernels/optimizer/clip_by_norm.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/clip_by_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct ScaleRule {
  float factor;

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read&, State& state) const {
    state[0] = hn::Mul(hn::Set(d, factor), state[0]);
  }
};

void clip_by_norm(const ClipByNorm::Arguments& a, Context& context) {
  const float factor = clip_factor(a);
  if (factor == 1.0f) return;  // most steps of a healthy run: nothing to read, nothing to write
  update_rows<0, 1>(context, {}, {a.x}, ScaleRule{factor});
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<ClipByNorm> clip_by_norm_simd = INGOT_SIMD_ENTRIES(clip_by_norm);
}  // namespace ingot
#endif
