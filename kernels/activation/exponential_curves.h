// Curves made of one exponential.
//
// Most vector forms use e^-|x|, which never overflows, and keep the relative precision of the tails, denormals too.
// Where a result is x times a denormal, the denormal's absolute precision counts: |x| is below 104 there, so errors are
// measured against at least 2^-119 = 128 times the smallest normal number. silu, the hot one, takes a sigmoid below
// 2^-126 for zero: its errors, at most 89 * 2^-126, are measured against at least 2^-96.
#pragma once

#include "kernels/activation/unary_activation.h"

namespace ingot {

inline double sigmoid_in_double(double x) { return 1 / (1 + std::exp(-x)); }

struct Sigmoid {
  static constexpr std::string_view name = "activation.sigmoid";
  static constexpr std::string_view backward_name = "activation.sigmoid_backward";
  static constexpr std::string_view equation = "y = 1 / (1 + e^-x)";
  static constexpr std::string_view backward_equation = "dx = dy sigmoid(x) sigmoid(-x)";
  static constexpr double operations = 22;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return sigmoid_in_double(x); }
  static double derivative(double x, const Parameters&) { return sigmoid_in_double(x) * sigmoid_in_double(-x); }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 2, .reason = "an exponential of 1 epsilon, and a quotient"};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 4, .reason = "two sigmoids of 2 epsilons, of which one is near 1"};
  }
};

struct Tanh {
  static constexpr std::string_view name = "activation.tanh";
  static constexpr std::string_view backward_name = "activation.tanh_backward";
  static constexpr std::string_view equation = "y = tanh(x)";
  static constexpr std::string_view backward_equation = "dx = dy (1 - tanh(x)^2)";
  static constexpr double operations = 24;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return std::tanh(x); }
  // 1 - tanh(x)^2 = 4 sigmoid(2x) sigmoid(-2x), without its cancellation.
  static double derivative(double x, const Parameters&) {
    return 4 * sigmoid_in_double(2 * x) * sigmoid_in_double(-2 * x);
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 2, .reason = "e^x - 1 of 1 epsilon, and a quotient"};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 4, .reason = "two sigmoids of 2 epsilons, of which one is near 1"};
  }
};

struct Silu {
  static constexpr std::string_view name = "activation.silu";
  static constexpr std::string_view backward_name = "activation.silu_backward";
  static constexpr std::string_view equation = "y = x / (1 + e^-x)";
  static constexpr std::string_view backward_equation = "dx = dy sigmoid(x) (1 + x sigmoid(-x))";
  static constexpr double operations = 23;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) { return x * sigmoid_in_double(x); }
  static double derivative(double x, const Parameters&) {
    return sigmoid_in_double(x) * (1 + x * sigmoid_in_double(-x));
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 4, .reason = "an exponential of 3 epsilons, a sum and a quotient", .least_scale = 0x1p-96};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 6, .reason = "two sigmoids and a sum that crosses zero", .least_scale = 1};
  }
};

struct Softplus {
  static constexpr std::string_view name = "activation.softplus";
  static constexpr std::string_view backward_name = "activation.softplus_backward";
  static constexpr std::string_view equation = "y = log(1 + e^x)";
  static constexpr std::string_view backward_equation = "dx = dy sigmoid(x)";
  static constexpr double operations = 30;
  using Parameters = NoParameters;

  static double value(double x, const Parameters&) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  static double derivative(double x, const Parameters&) { return sigmoid_in_double(x); }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 2.5, .reason = "an exponential, a logarithm of 1.5 epsilons, and a sum of positive terms"};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 3, .reason = "a sigmoid of 2 epsilons, times dy"};
  }
};

struct Elu {
  static constexpr std::string_view name = "activation.elu";
  static constexpr std::string_view backward_name = "activation.elu_backward";
  static constexpr std::string_view equation = "y = x where x > 0, else alpha (e^x - 1)";
  static constexpr std::string_view backward_equation = "dx = dy where x > 0, else alpha e^x dy";
  static constexpr double operations = 20;
  struct Parameters {
    float alpha = 1;
    static constexpr auto fields() { return field_list(attribute(&Parameters::alpha, "alpha")); }
  };

  static double value(double x, const Parameters& p) { return x > 0 ? x : p.alpha * std::expm1(x); }
  static double derivative(double x, const Parameters& p) { return x > 0 ? 1 : p.alpha * std::exp(x); }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 2, .reason = "e^x - 1 of 1 epsilon, times alpha"};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 3, .reason = "an exponential of 1 epsilon and two products"};
  }
};

struct Selu {
  static constexpr std::string_view name = "activation.selu";
  static constexpr std::string_view backward_name = "activation.selu_backward";
  static constexpr std::string_view equation = "y = gamma x where x > 0, else gamma alpha (e^x - 1)";
  static constexpr std::string_view backward_equation = "dx = gamma dy where x > 0, else gamma alpha e^x dy";
  static constexpr double operations = 21;
  struct Parameters {
    float alpha = 1.67326319217681884765625f;  // the published fixed point, as ONNX rounds it
    float gamma = 1.05070102214813232421875f;
    static constexpr auto fields() {
      return field_list(attribute(&Parameters::alpha, "alpha"), attribute(&Parameters::gamma, "gamma"));
    }
  };

  static double value(double x, const Parameters& p) {
    return x > 0 ? p.gamma * x : double{p.gamma} * p.alpha * std::expm1(x);
  }
  static double derivative(double x, const Parameters& p) {
    return x > 0 ? double{p.gamma} : double{p.gamma} * p.alpha * std::exp(x);
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 3, .reason = "e^x - 1 of 1 epsilon and two products"};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 3, .reason = "an exponential of 1 epsilon and three products"};
  }
};

struct Mish {
  static constexpr std::string_view name = "activation.mish";
  static constexpr std::string_view backward_name = "activation.mish_backward";
  static constexpr std::string_view equation = "y = x tanh(log(1 + e^x))";
  static constexpr std::string_view backward_equation = "dx = dy (t + x (1 - t^2) sigmoid(x)), t = tanh(log(1 + e^x))";
  static constexpr double operations = 27;
  using Parameters = NoParameters;

  static double value(double x, const Parameters& p) { return x * std::tanh(Softplus::value(x, p)); }
  static double derivative(double x, const Parameters& p) {
    const double t = std::tanh(Softplus::value(x, p));
    return t + x * (1 - t * t) * sigmoid_in_double(x);
  }
  static Tolerance tolerance(const Parameters&) {
    return {.epsilons = 5, .reason = "a quotient of sums of positive terms in e^-|x|", .least_scale = 0x1p-119};
  }
  static Tolerance backward_tolerance(const Parameters&) {
    return {.epsilons = 8, .reason = "two quotients and a sum that crosses zero", .least_scale = 1};
  }
};

}  // namespace ingot
