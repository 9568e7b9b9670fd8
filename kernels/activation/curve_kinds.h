// The host's side of DeviceCurve: which kind a curve is on a device.
#pragma once

#include "kernels/activation/curves_cuda.h"
#include "kernels/activation/gates.h"

namespace ingot {

template <class Curve>
inline constexpr CurveKind curve_kind = [] {
  if constexpr (std::is_same_v<Curve, Relu>) return CurveKind::relu;
  if constexpr (std::is_same_v<Curve, LeakyRelu>) return CurveKind::leaky_relu;
  if constexpr (std::is_same_v<Curve, ThresholdedRelu>) return CurveKind::thresholded_relu;
  if constexpr (std::is_same_v<Curve, HardSigmoid>) return CurveKind::hard_sigmoid;
  if constexpr (std::is_same_v<Curve, Softsign>) return CurveKind::softsign;
  if constexpr (std::is_same_v<Curve, Sigmoid>) return CurveKind::sigmoid;
  if constexpr (std::is_same_v<Curve, Tanh>) return CurveKind::tanh;
  if constexpr (std::is_same_v<Curve, Silu>) return CurveKind::silu;
  if constexpr (std::is_same_v<Curve, Softplus>) return CurveKind::softplus;
  if constexpr (std::is_same_v<Curve, Elu>) return CurveKind::elu;
  if constexpr (std::is_same_v<Curve, Selu>) return CurveKind::selu;
  if constexpr (std::is_same_v<Curve, Mish>) return CurveKind::mish;
  if constexpr (std::is_same_v<Curve, Gelu>) return CurveKind::gelu;
  if constexpr (std::is_same_v<Curve, GeluTanh>) return CurveKind::gelu_tanh;
  if constexpr (std::is_same_v<Curve, GeluQuick>) return CurveKind::gelu_quick;
}();

// Its parameters, in the order of its fields.
template <class Curve>
DeviceCurve device_curve(const typename Curve::Parameters& parameters) {
  constexpr auto fields = Curve::Parameters::fields();
  constexpr std::size_t count = std::tuple_size_v<decltype(fields)>;
  static_assert(count <= 2);
  DeviceCurve curve = {.kind = curve_kind<Curve>};
  if constexpr (count > 0) curve.first = parameters.*std::get<0>(fields).member;
  if constexpr (count > 1) curve.second = parameters.*std::get<1>(fields).member;
  return curve;
}

}  // namespace ingot
