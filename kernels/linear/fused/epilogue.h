// What fused products do with sums before they leave the cache: the curves of kernels/activation, and gates.
#pragma once

#include <cmath>

#include "kernels/activation/exponential_curves.h"
#include "kernels/activation/gelu_curves.h"
#include "kernels/activation/rectifier_curves.h"
#include "kernels/linear/simd_entries.h"

namespace ingot {

enum class FusedCurve : std::uint8_t { silu, gelu, gelu_tanh, relu };
inline constexpr int fused_curve_count = 4;

// function.operator()<Curve>(). Precondition: one of the enumerators.
template <class Function>
decltype(auto) with_curve(FusedCurve curve, Function&& function) {
  switch (curve) {
    case FusedCurve::silu: return function.template operator()<Silu>();
    case FusedCurve::gelu: return function.template operator()<Gelu>();
    case FusedCurve::gelu_tanh: return function.template operator()<GeluTanh>();
    default: return function.template operator()<Relu>();
  }
}

inline double curve_value(FusedCurve curve, double x) {
  return with_curve(curve, [&]<class Curve>() { return Curve::value(x, {}); });
}
inline Tolerance curve_tolerance(FusedCurve curve) {
  return with_curve(curve, []<class Curve>() { return Curve::tolerance({}); });
}
inline double curve_operations(FusedCurve curve) {
  return with_curve(curve, []<class Curve>() { return Curve::operations; });
}
// The largest slope of all these curves is gelu's, at sqrt(2).
inline constexpr double largest_curve_slope = 1.13;

// An element's result does not depend on its neighbours, nor on where in a stretch it stands.
struct Epilogue {
  void (*apply)(FusedCurve curve, float* y, std::int64_t length);                  // y[i] = f(y[i])
  void (*gate)(FusedCurve curve, float* y, const float* up, std::int64_t length);  // y[i] = f(y[i]) up[i]
};
extern const PerTarget<const Epilogue*> epilogues;

}  // namespace ingot
