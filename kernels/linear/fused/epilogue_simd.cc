#include "kernels/linear/fused/epilogue.h"

#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear/fused/epilogue_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/activation/exponential_curves-inl.h"
#include "kernels/activation/gates-inl.h"
#include "kernels/activation/gelu_curves-inl.h"
#include "kernels/activation/rectifier_curves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void apply(FusedCurve curve, float* y, std::int64_t length) {
  with_curve(curve,
             [&]<class Curve>() { map_stretch<1, 1>({y}, {y}, length, CurveValue<Curve>{VectorCurve<Curve>({})}); });
}

void gate(FusedCurve curve, float* y, const float* up, std::int64_t length) {
  with_curve(curve,
             [&]<class Curve>() { map_stretch<2, 1>({y, up}, {y}, length, GateValue<Curve>{VectorCurve<Curve>({})}); });
}

constexpr Epilogue epilogue = {apply, gate};

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const PerTarget<const Epilogue*> epilogues = INGOT_SIMD_ENTRIES(epilogue);
}  // namespace ingot
#endif
