#include "kernels/norm/qk_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/qk_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/rms_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void qk_norm(const QkNorm::Arguments& a, Context& context) {
  rms_norm_rows(a.queries(), context);
  rms_norm_rows(a.keys(), context);
}

void qk_norm_backward(const QkNormBackward::Arguments& a, Context& context) {
  rms_norm_backward_rows(a.queries(), context);
  rms_norm_backward_rows(a.keys(), context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<QkNorm> qk_norm_simd = INGOT_SIMD_ENTRIES(qk_norm);
const SimdEntries<QkNormBackward> qk_norm_backward_simd = INGOT_SIMD_ENTRIES(qk_norm_backward);
}  // namespace ingot
#endif
