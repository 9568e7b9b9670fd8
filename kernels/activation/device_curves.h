// The curves on a device, each within its own tolerance (exponential_curves.h and its neighbours say why of the forms;
// they are those of the vector variants). NaN stays NaN.
#pragma once

#include "kernels/activation/curves_cuda.h"
#include "kernels/device/numbers.h"

namespace ingot::device {

INGOT_ON_DEVICE float relu(float x) { return x < 0 ? 0 : x; }
INGOT_ON_DEVICE float leaky_relu(float x, float slope) { return x > 0 ? x : slope * x; }
INGOT_ON_DEVICE float thresholded_relu(float x, float alpha) { return x > alpha ? x : 0; }
INGOT_ON_DEVICE float hard_sigmoid(float x, float alpha, float beta) {
  const float line = fused_multiply_add(x, alpha, beta);
  return line < 0 ? 0 : line > 1 ? 1 : line;
}
INGOT_ON_DEVICE float softsign(float x) { return x / (1 + absolute(x)); }

// By e^-|x|, which does not overflow: the tails keep their precision.
INGOT_ON_DEVICE float sigmoid(float x) {
  const float e = exponential(-absolute(x));
  return (x < 0 ? e : 1) / (1 + e);
}
// x sigmoid(z). Where e^-z is infinite it is 0, which the tolerances of those who ask allow.
INGOT_ON_DEVICE float times_sigmoid(float x, float z) { return x / (1 + exponential(-z)); }
INGOT_ON_DEVICE float silu(float x) { return times_sigmoid(x, x); }
INGOT_ON_DEVICE float softplus(float x) { return (x < 0 ? 0 : x) + logarithm_of_1_plus(exponential(-absolute(x))); }
INGOT_ON_DEVICE float elu(float x, float alpha) { return x > 0 ? x : alpha * exponential_minus_1(x); }
INGOT_ON_DEVICE float selu(float x, float alpha, float gamma) {
  return gamma * (x > 0 ? x : alpha * exponential_minus_1(x));
}
// tanh(log(1 + w)) = (w^2 + 2w) / (w^2 + 2w + 2) with w = e^x; above zero both parts are divided by w^2.
INGOT_ON_DEVICE float mish(float x) {
  const float e = exponential(-absolute(x));
  const float twice = e + e;
  if (x < 0) return x * (e * (e + 2) / (e * e + twice + 2));
  return x * ((twice + 1) / (e * twice + twice + 1));
}

// c0 + c1 x + c2 x^2 + ...
template <unsigned Count>
INGOT_ON_DEVICE float polynomial(const float (&coefficients)[Count], float x) {
  float value = coefficients[Count - 1];
  INGOT_UNROLL
  for (unsigned i = Count - 1; i > 0; --i) value = fused_multiply_add(value, x, coefficients[i - 1]);
  return value;
}

// Phi(-a), what a normal distribution has beyond a: within 5 epsilons of itself however far out, for 0 <= a <= 15. The
// fits and their errors are those of NormalTail in kernels/vector/math-inl.h.
INGOT_ON_DEVICE float normal_tail(float a) {
  // -a^2 / 2 = square + rest: its error becomes the result's relative error.
  const float half = a * -0.5f;
  const float square = half * a;
  const float rest = fused_multiply_add(half, a, -square);
  // e^square = 2^n e^r.
  const float n = round_to_even(square * 1.44269504088896341f);
  float r = fused_multiply_add(n, -0.693359375f, square);
  r = fused_multiply_add(n, 2.12194440054690583e-4f, r);
  constexpr float power_terms[] = {
      1.0f, 1.0f, 0.49999994039f, 0.16666430235f, 0.041668005288f, 0.0083741955459f, 0.0013843605993f};
  const float p = polynomial(power_terms, r + rest);
  constexpr float ratio_terms[] = {7.494571e-06f,  0.1194821075f, 0.121960327f,   0.0945266783f, 0.1429048032f,
                                   -0.0770423412f, 0.2291294634f, -0.1693936586f, 0.038425155f};
  const float q = polynomial(ratio_terms, 1 / fused_multiply_add(a, 0.3f, 1.0f));
  // 2^n alone may be out of range: in two halves. n is from -163 to 0.
  const auto exponent = static_cast<std::int32_t>(n);
  const std::int32_t first = exponent / 2;
  const float scale = float_of_bits(static_cast<std::uint32_t>(first + 127) << 23);
  return p * q * scale * float_of_bits(static_cast<std::uint32_t>(exponent - first + 127) << 23);
}
// max(x, 0) - |x| Phi(-|x|): x Phi(x) on both sides of zero.
INGOT_ON_DEVICE float gelu(float x) {
  if (is_nan(x)) return x;
  const float a = minimum(absolute(x), 15);  // beyond, the tail is zero
  return fused_multiply_add(-a, normal_tail(a), x < 0 ? 0 : x);
}
INGOT_ON_DEVICE float gelu_tanh(float x) {
  constexpr float largest = 100;  // the sigmoid is 0 or 1 long before, and the cube stays finite
  constexpr auto linear = 1.59576912160573071176f;
  constexpr auto cubic = static_cast<float>(1.59576912160573071176 * 0.044715);
  const float bounded = x < -largest ? -largest : x > largest ? largest : x;
  return times_sigmoid(x, bounded * fused_multiply_add(bounded * bounded, cubic, linear));
}
INGOT_ON_DEVICE float gelu_quick(float x) { return times_sigmoid(x, 1.702f * x); }

// Calls visit(curve), curve(x) a float: one question for all elements that visit has.
template <class Visit>
INGOT_ON_DEVICE void with_curve(const DeviceCurve& curve, Visit visit) {
  const float first = curve.first;
  const float second = curve.second;
  switch (curve.kind) {
    case CurveKind::relu: return visit([](float x) { return relu(x); });
    case CurveKind::leaky_relu: return visit([first](float x) { return leaky_relu(x, first); });
    case CurveKind::thresholded_relu: return visit([first](float x) { return thresholded_relu(x, first); });
    case CurveKind::hard_sigmoid: return visit([first, second](float x) { return hard_sigmoid(x, first, second); });
    case CurveKind::softsign: return visit([](float x) { return softsign(x); });
    case CurveKind::sigmoid: return visit([](float x) { return sigmoid(x); });
    case CurveKind::tanh: return visit([](float x) { return hyperbolic_tangent(x); });
    case CurveKind::silu: return visit([](float x) { return silu(x); });
    case CurveKind::softplus: return visit([](float x) { return softplus(x); });
    case CurveKind::elu: return visit([first](float x) { return elu(x, first); });
    case CurveKind::selu: return visit([first, second](float x) { return selu(x, first, second); });
    case CurveKind::mish: return visit([](float x) { return mish(x); });
    case CurveKind::gelu: return visit([](float x) { return gelu(x); });
    case CurveKind::gelu_tanh: return visit([](float x) { return gelu_tanh(x); });
    case CurveKind::gelu_quick: return visit([](float x) { return gelu_quick(x); });
  }
}

}  // namespace ingot::device
