// Curves made of straight pieces, and softsign: no exponentials.
//
// At a kink the derivative is the one of the piece below it. A NaN gives a NaN, except where a curve's definition
// compares first (thresholded_relu).
#pragma once

#include "kernels/activation/unary_activation.h"

namespace ingot {

struct Relu {
  static constexpr std::string_view name = "activation.relu";
  static constexpr std::string_view backward_name = "activation.relu_backward";
  static constexpr std::string_view equation = "y = max(x, 0)";
  static constexpr std::string_view backward_equation = "dx = dy where x > 0, else 0 dy";
  static constexpr double operations = 1;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return x < 0 ? 0 : x; }
  static double derivative(double x, const Parameters&) { return x > 0 ? 1 : 0; }
  static Tolerance tolerance(const Parameters&) { return Tolerance::exact("one comparison"); }
  static Tolerance backward_tolerance(const Parameters&) { return Tolerance::exact("a product with 0 or 1"); }
};

struct LeakyRelu {
  static constexpr std::string_view name = "activation.leaky_relu";
  static constexpr std::string_view backward_name = "activation.leaky_relu_backward";
  static constexpr std::string_view equation = "y = x where x > 0, else slope x";
  static constexpr std::string_view backward_equation = "dx = dy where x > 0, else slope dy";
  static constexpr double operations = 2;
  struct Parameters {
    float slope = 0.01f;
    static constexpr auto fields() { return field_list(attribute(&Parameters::slope, "slope")); }
  };

  static double value(double x, const Parameters& p) { return x > 0 ? x : p.slope * x; }
  static double derivative(double x, const Parameters& p) { return x > 0 ? 1 : double{p.slope}; }
  static Tolerance tolerance(const Parameters&) { return {.epsilons = 0.5, .reason = "one rounded product"}; }
  static Tolerance backward_tolerance(const Parameters& p) { return tolerance(p); }
};

// ONNX ThresholdedRelu.
struct ThresholdedRelu {
  static constexpr std::string_view name = "activation.thresholded_relu";
  static constexpr std::string_view backward_name = "activation.thresholded_relu_backward";
  static constexpr std::string_view equation = "y = x where x > alpha, else 0";
  static constexpr std::string_view backward_equation = "dx = dy where x > alpha, else 0 dy";
  static constexpr double operations = 1;
  struct Parameters {
    float alpha = 1;
    static constexpr auto fields() { return field_list(attribute(&Parameters::alpha, "alpha")); }
  };
  static constexpr Parameters gradient_parameters = {.alpha = 0.05f};

  static double value(double x, const Parameters& p) { return x > p.alpha ? x : 0; }
  static double derivative(double x, const Parameters& p) { return x > p.alpha ? 1 : 0; }
  static Tolerance tolerance(const Parameters&) { return Tolerance::exact("one comparison"); }
  static Tolerance backward_tolerance(const Parameters&) { return Tolerance::exact("a product with 0 or 1"); }
};

// ONNX HardSigmoid.
struct HardSigmoid {
  static constexpr std::string_view name = "activation.hard_sigmoid";
  static constexpr std::string_view backward_name = "activation.hard_sigmoid_backward";
  static constexpr std::string_view equation = "y = max(0, min(1, alpha x + beta))";
  static constexpr std::string_view backward_equation = "dx = alpha dy where 0 < alpha x + beta < 1, else 0 dy";
  static constexpr double operations = 4;
  struct Parameters {
    float alpha = 0.2f;
    float beta = 0.5f;
    static constexpr auto fields() {
      return field_list(attribute(&Parameters::alpha, "alpha"), attribute(&Parameters::beta, "beta"));
    }
  };

  static double value(double x, const Parameters& p) {
    const double line = p.alpha * x + p.beta;
    return line < 0 ? 0 : line > 1 ? 1 : line;
  }
  static double derivative(double x, const Parameters& p) {
    const double line = p.alpha * x + p.beta;
    return line > 0 && line < 1 ? double{p.alpha} : 0;
  }
  static Tolerance tolerance(const Parameters& p) {
    return {.epsilons = 2,
            .reason = "a rounded product and sum, whose terms are at most 1 + |beta| where they are not cut off",
            .least_scale = 1 + std::fabs(double{p.beta})};
  }
  static Tolerance backward_tolerance(const Parameters&) { return {.epsilons = 0.5, .reason = "one rounded product"}; }
};

struct Softsign {
  static constexpr std::string_view name = "activation.softsign";
  static constexpr std::string_view backward_name = "activation.softsign_backward";
  static constexpr std::string_view equation = "y = x / (1 + |x|)";
  static constexpr std::string_view backward_equation = "dx = dy / (1 + |x|)^2";
  static constexpr double operations = 3;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return x / (1 + std::fabs(x)); }
  static double derivative(double x, const Parameters&) { return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x))); }
  static Tolerance tolerance(const Parameters&) { return {.epsilons = 1.5, .reason = "a rounded sum and quotient"}; }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 4, .reason = "a rounded reciprocal, squared"};
  }
};

}  // namespace ingot
