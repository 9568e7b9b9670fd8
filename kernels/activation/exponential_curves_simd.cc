#include "kernels/activation/exponential_curves.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/exponential_curves_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activation/exponential_curves-inl.h"

#if HWY_ONCE
namespace ingot {
template SimdEntries<UnaryActivation<Sigmoid>> forward_entries();
template SimdEntries<UnaryActivationBackward<Sigmoid>> backward_entries();
template SimdEntries<UnaryActivation<Tanh>> forward_entries();
template SimdEntries<UnaryActivationBackward<Tanh>> backward_entries();
template SimdEntries<UnaryActivation<Silu>> forward_entries();
template SimdEntries<UnaryActivationBackward<Silu>> backward_entries();
template SimdEntries<UnaryActivation<Softplus>> forward_entries();
template SimdEntries<UnaryActivationBackward<Softplus>> backward_entries();
template SimdEntries<UnaryActivation<Elu>> forward_entries();
template SimdEntries<UnaryActivationBackward<Elu>> backward_entries();
template SimdEntries<UnaryActivation<Selu>> forward_entries();
template SimdEntries<UnaryActivationBackward<Selu>> backward_entries();
template SimdEntries<UnaryActivation<Mish>> forward_entries();
template SimdEntries<UnaryActivationBackward<Mish>> backward_entries();
}  // namespace ingot
#endif
