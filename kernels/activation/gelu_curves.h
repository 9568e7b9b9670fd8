// The Gaussian error linear unit, x Phi(x), and its two usual approximations.
//
// Errors of what may be zero are measured as in exponential_curves.h.
#pragma once

#include <algorithm>

#include "kernels/activation/exponential_curves.h"

namespace ingot {

struct Gelu {
  static constexpr std::string_view name = "activation.gelu";
  static constexpr std::string_view backward_name = "activation.gelu_backward";
  static constexpr std::string_view equation = "y = x Phi(x) = x (1 + erf(x / sqrt 2)) / 2";
  static constexpr std::string_view backward_equation = "dx = dy (Phi(x) + x e^(-x^2/2) / sqrt(2 pi))";
  static constexpr double operations = 44;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) {
    if (std::isinf(x)) return x > 0 ? x : 0;  // the limits
    return x * 0.5 * std::erfc(x * -0.70710678118654752440);
  }
  static double derivative(double x, const Parameters&) {
    return 0.5 * std::erfc(x * -0.70710678118654752440) + x * std::exp(-0.5 * x * x) * 0.39894228040143267794;
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 6, .reason = "Phi of 5 epsilons, of its tail too, times x", .least_scale = 0x1p-119};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 8, .reason = "Phi of 5 epsilons and a sum that crosses zero", .least_scale = 1};
  }
};

struct GeluTanh {
  static constexpr std::string_view name = "activation.gelu_tanh";
  static constexpr std::string_view backward_name = "activation.gelu_tanh_backward";
  static constexpr std::string_view equation = "y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2";
  static constexpr std::string_view backward_equation = "dx = dy y'(x)";
  static constexpr double operations = 28;
  static constexpr double cubic = 0.044715;
  static constexpr double twice_root = 1.59576912160573071176;  // 2 sqrt(2/pi): (1 + tanh u) / 2 = sigmoid(2u)
  using Parameters = NoParameters;

  // Beyond this the sigmoid is exactly 0 or 1; the bound keeps the cube finite, so that 0 times it is 0.
  static constexpr double largest = 100;
  static double argument(double x) {
    const double bounded = std::isnan(x) ? x : std::clamp(x, -largest, largest);
    return twice_root * (bounded + cubic * bounded * bounded * bounded);
  }
  static double value(double x, const Parameters&) { return x * sigmoid_in_double(argument(x)); }
  static double derivative(double x, const Parameters&) {
    const double bounded = std::isnan(x) ? x : std::clamp(x, -largest, largest);
    const double slope = twice_root * (1 + 3 * cubic * bounded * bounded);
    const double s = sigmoid_in_double(argument(x));
    return s + bounded * s * sigmoid_in_double(-argument(x)) * slope;
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 128,
            .reason =
                "the argument's roundings (1.5 epsilons of it) become relative errors of e^argument, whose "
                "argument reaches 87 in the tail; near zero 4 epsilons hold",
            .least_scale = 0x1p-96};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 16, .reason = "two sigmoids, a cubic and a sum that crosses zero", .least_scale = 1};
  }
};

struct GeluQuick {
  static constexpr std::string_view name = "activation.gelu_quick";
  static constexpr std::string_view backward_name = "activation.gelu_quick_backward";
  static constexpr std::string_view equation = "y = x / (1 + e^(-1.702 x))";
  static constexpr std::string_view backward_equation = "dx = dy s (1 + z sigmoid(-z)), s = sigmoid(z), z = 1.702 x";
  static constexpr double operations = 24;
  static constexpr float factor = 1.702f;  // the constant is the float nearest to 1.702
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return x * sigmoid_in_double(factor * x); }
  static double derivative(double x, const Parameters&) {
    const double z = factor * x;
    return sigmoid_in_double(z) * (1 + z * sigmoid_in_double(-z));
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 64,
            .reason =
                "the rounding of 1.702 x (half an epsilon of it) becomes a relative error of e^-1.702x, whose "
                "argument reaches 87 in the tail; near zero 3 epsilons hold",
            .least_scale = 0x1p-96};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 8, .reason = "two sigmoids and a sum that crosses zero", .least_scale = 1};
  }
};

}  // namespace ingot
