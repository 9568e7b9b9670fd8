// Unary activations: one curve applied to every element. A curve is a small type (see rectifier_curves.h and its
// neighbours) with the name, the formula in double, its derivative, its parameters and its tolerance; this template
// makes the contract of it, so that each curve is an operation of its own.
//
//   y[...] = f(x[...])
//
// C1  y has x's shape, of any rank
// C2  the last axes of x and y are packed; rows may lie anywhere
// C3  the curve's parameters are finite
// In place: y may be x.
#pragma once

#include <cmath>

#include "kernels/contract/contract.h"

namespace ingot {

// A curve without parameters. Others derive from nothing and list theirs (see LeakyRelu).
struct NoParameters {
  static constexpr auto fields() { return field_list(); }
};

template <class... Numbers>
Result<void> require_finite_parameters(std::string_view operation, Numbers... numbers) {
  if ((std::isfinite(numbers) && ...)) return {};
  return violated(operation, "C3", "expected finite parameters, found one that is not");
}

// The parameters of a curve, checked through its own list of fields.
template <class Parameters>
Result<void> check_parameters(std::string_view operation, const Parameters& parameters) {
  return std::apply(
      [&](const auto&... field) { return require_finite_parameters(operation, parameters.*field.member...); },
      Parameters::fields());
}

template <class Curve_>
struct UnaryActivation {
  using Curve = Curve_;
  static constexpr std::string_view name = Curve::name;
  static constexpr std::string_view equation = Curve::equation;
  static constexpr Backward backward = Backward::by(Curve::backward_name);
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments : Curve::Parameters {
    View<const float> x;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::x, "x")), Curve::Parameters::fields(),
                            field_list(output(&Arguments::y, "y")));
    }
  };

  static Result<void> check(const Arguments& a) {
    TRY(require_shape(name, "C1", "y", a.y, a.x.shape()));
    TRY(require_contiguous_rows(name, "C2", "x", a.x));
    TRY(require_contiguous_rows(name, "C2", "y", a.y));
    return check_parameters<typename Curve::Parameters>(name, a);
  }
  static Cost cost(const Arguments& a) {
    const auto count = static_cast<double>(a.x.count());
    return {.operations = Curve::operations * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
  }
  static Tolerance tolerance(const Arguments& a) { return Curve::tolerance(a); }
  static std::span<const Variant<UnaryActivation>> variants();
  static void cases(CaseList<UnaryActivation>& list);
};

// Its backward:
//
//   dx[...] = dy[...] f'(x[...])
//
// C1  dy and dx have x's shape, of any rank
// C2  the last axes of x, dy and dx are packed; rows may lie anywhere
// C3  the curve's parameters are finite
// In place: dx may be dy, or x.
template <class Curve_>
struct UnaryActivationBackward {
  using Curve = Curve_;
  static constexpr std::string_view name = Curve::backward_name;
  static constexpr std::string_view equation = Curve::backward_equation;
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}, InPlace{"dx", "x"}};

  struct Arguments : Curve::Parameters {
    View<const float> x;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::x, "x")), Curve::Parameters::fields(),
                            field_list(input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx")));
    }
  };

  static Result<void> check(const Arguments& a) {
    TRY(require_shape(name, "C1", "dy", a.dy, a.x.shape()));
    TRY(require_shape(name, "C1", "dx", a.dx, a.x.shape()));
    TRY(require_contiguous_rows(name, "C2", "x", a.x));
    TRY(require_contiguous_rows(name, "C2", "dy", a.dy));
    TRY(require_contiguous_rows(name, "C2", "dx", a.dx));
    return check_parameters<typename Curve::Parameters>(name, a);
  }
  static Cost cost(const Arguments& a) {
    const auto count = static_cast<double>(a.x.count());
    return {.operations = (Curve::operations + 4) * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
  }
  static Tolerance tolerance(const Arguments& a) { return Curve::backward_tolerance(a); }
  static std::span<const Variant<UnaryActivationBackward>> variants();
  static void cases(CaseList<UnaryActivationBackward>& list);
};

// The vector variants of a curve; instantiated in the vector source that holds it (see unary_activation-inl.h).
template <class Curve>
SimdEntries<UnaryActivation<Curve>> forward_entries();
template <class Curve>
SimdEntries<UnaryActivationBackward<Curve>> backward_entries();
// And its device row, instantiated in curves_cuda.cc.
template <class Curve>
Variant<UnaryActivation<Curve>> curve_cuda();

}  // namespace ingot
