#include "kernels/norm/rms_norm.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/rms_norm_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/rms_rows-inl.h"

#if HWY_ONCE
namespace ingot {
const SimdEntries<RmsNorm> rms_norm_simd = INGOT_SIMD_ENTRIES(rms_norm_rows);
const SimdEntries<RmsNormBackward> rms_norm_backward_simd = INGOT_SIMD_ENTRIES(rms_norm_backward_rows);
}  // namespace ingot
#endif
