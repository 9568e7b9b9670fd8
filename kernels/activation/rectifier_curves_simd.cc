#include "kernels/activation/rectifier_curves.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/rectifier_curves_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activation/rectifier_curves-inl.h"

#if HWY_ONCE
namespace ingot {
template SimdEntries<UnaryActivation<Relu>> forward_entries();
template SimdEntries<UnaryActivationBackward<Relu>> backward_entries();
template SimdEntries<UnaryActivation<LeakyRelu>> forward_entries();
template SimdEntries<UnaryActivationBackward<LeakyRelu>> backward_entries();
template SimdEntries<UnaryActivation<ThresholdedRelu>> forward_entries();
template SimdEntries<UnaryActivationBackward<ThresholdedRelu>> backward_entries();
template SimdEntries<UnaryActivation<HardSigmoid>> forward_entries();
template SimdEntries<UnaryActivationBackward<HardSigmoid>> backward_entries();
template SimdEntries<UnaryActivation<Softsign>> forward_entries();
template SimdEntries<UnaryActivationBackward<Softsign>> backward_entries();
}  // namespace ingot
#endif
