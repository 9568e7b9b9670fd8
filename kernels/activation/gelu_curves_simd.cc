#include "kernels/activation/gelu_curves.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/gelu_curves_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activation/gelu_curves-inl.h"

#if HWY_ONCE
namespace ingot {
template SimdEntries<UnaryActivation<Gelu>> forward_entries();
template SimdEntries<UnaryActivationBackward<Gelu>> backward_entries();
template SimdEntries<UnaryActivation<GeluTanh>> forward_entries();
template SimdEntries<UnaryActivationBackward<GeluTanh>> backward_entries();
template SimdEntries<UnaryActivation<GeluQuick>> forward_entries();
template SimdEntries<UnaryActivationBackward<GeluQuick>> backward_entries();
}  // namespace ingot
#endif
