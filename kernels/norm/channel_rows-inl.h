// One channel, whose mean, scale and shift are single numbers.
#if defined(INGOT_KERNELS_NORM_CHANNEL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_NORM_CHANNEL_ROWS_INL_H_
#undef INGOT_KERNELS_NORM_CHANNEL_ROWS_INL_H_
#else
#define INGOT_KERNELS_NORM_CHANNEL_ROWS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/vector/tensor_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// y = (x - mean) scale + shift
struct CenteredChannel {
  float mean;
  float scale;
  float shift;
  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* in, V* out) const {
    namespace hn = hwy::HWY_NAMESPACE;
    out[0] = hn::MulAdd(hn::Sub(in[0], hn::Set(d, mean)), hn::Set(d, scale), hn::Set(d, shift));
  }
};

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
