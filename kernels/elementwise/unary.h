// Functions of one tensor, element by element, and their gradients:
//
//   scale  y = factor x                            dx = factor dy
//   clamp  y = low where x < low, high where x > high, otherwise x
//                                                  dx = dy where low <= x <= high, otherwise 0
//   exp    y = e^x                                 dx = dy y
//   sqrt   y = sqrt(x), NaN below zero             dx = dy / (2 y)
//
// clamp keeps NaN, and gives it no gradient. The gradients of exp and sqrt read the forward's output, so that a
// training plan keeps y, which its successor mostly needs too, and not x.
//
// C1  the first tensor has rank 1 to 6 and a packed last axis; rows may lie anywhere
// C2  every other tensor has its shape, and a packed last axis
// C3  scale: factor is finite. clamp: low <= high (infinities are bounds that never bind)
// In place: y may be x; dx may be dy.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct CurveArguments {
  View<const float> x;
  View<float> y;

  static constexpr auto fields() { return field_list(input(&CurveArguments::x, "x"), output(&CurveArguments::y, "y")); }
  auto sources() const { return std::array{x}; }
  const View<float>& target() const { return y; }
};

struct ScaleArguments {
  View<const float> x;
  float factor = 1;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&ScaleArguments::x, "x"), attribute(&ScaleArguments::factor, "factor"),
                      output(&ScaleArguments::y, "y"));
  }
  auto sources() const { return std::array{x}; }
  const View<float>& target() const { return y; }
};

struct ClampArguments {
  View<const float> x;
  float low = -1;
  float high = 1;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&ClampArguments::x, "x"), attribute(&ClampArguments::low, "low"),
                      attribute(&ClampArguments::high, "high"), output(&ClampArguments::y, "y"));
  }
  auto sources() const { return std::array{x}; }
  const View<float>& target() const { return y; }
};

struct CurveBackwardArguments {
  View<const float> y;
  View<const float> dy;
  View<float> dx;

  static constexpr auto fields() {
    return field_list(input(&CurveBackwardArguments::y, "y"), input(&CurveBackwardArguments::dy, "dy"),
                      output(&CurveBackwardArguments::dx, "dx"));
  }
  auto sources() const { return std::array{y, dy}; }
  const View<float>& target() const { return dx; }
};

struct ScaleBackwardArguments {
  View<const float> dy;
  float factor = 1;
  View<float> dx;

  static constexpr auto fields() {
    return field_list(input(&ScaleBackwardArguments::dy, "dy"), attribute(&ScaleBackwardArguments::factor, "factor"),
                      output(&ScaleBackwardArguments::dx, "dx"));
  }
  auto sources() const { return std::array{dy}; }
  const View<float>& target() const { return dx; }
};

struct ClampBackwardArguments {
  View<const float> x;
  float low = -1;
  float high = 1;
  View<const float> dy;
  View<float> dx;

  static constexpr auto fields() {
    return field_list(input(&ClampBackwardArguments::x, "x"), attribute(&ClampBackwardArguments::low, "low"),
                      attribute(&ClampBackwardArguments::high, "high"), input(&ClampBackwardArguments::dy, "dy"),
                      output(&ClampBackwardArguments::dx, "dx"));
  }
  auto sources() const { return std::array{x, dy}; }
  const View<float>& target() const { return dx; }
};

template <class Op, class OpArguments>
struct UnaryContract {
  using Arguments = OpArguments;
  static constexpr std::array in_place = {InPlace{"y", "x"}, InPlace{"dx", "dy"}};

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

// The scalar functions take their sources in the order of Arguments::sources().

struct Scale : UnaryContract<Scale, ScaleArguments> {
  static constexpr std::string_view name = "elementwise.scale";
  static constexpr std::string_view equation = "y = factor x";
  static constexpr Backward backward = Backward::by("elementwise.scale_backward");
  static double apply(const Arguments& a, double x) { return a.factor * x; }
};

struct ScaleBackward : UnaryContract<ScaleBackward, ScaleBackwardArguments> {
  static constexpr std::string_view name = "elementwise.scale_backward";
  static constexpr std::string_view equation = "dx = factor dy";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static double apply(const Arguments& a, double dy) { return a.factor * dy; }
};

struct Clamp : UnaryContract<Clamp, ClampArguments> {
  static constexpr std::string_view name = "elementwise.clamp";
  static constexpr std::string_view equation = "y = min(max(x, low), high), NaN kept";
  static constexpr Backward backward = Backward::by("elementwise.clamp_backward");
  static double apply(const Arguments& a, double x) { return x < a.low ? a.low : x > a.high ? a.high : x; }
};

struct ClampBackward : UnaryContract<ClampBackward, ClampBackwardArguments> {
  static constexpr std::string_view name = "elementwise.clamp_backward";
  static constexpr std::string_view equation = "dx = dy where low <= x <= high, otherwise 0";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static double apply(const Arguments& a, double x, double dy) { return x >= a.low && x <= a.high ? dy : 0; }
};

struct Exponential : UnaryContract<Exponential, CurveArguments> {
  static constexpr std::string_view name = "elementwise.exp";
  static constexpr std::string_view equation = "y = e^x";
  static constexpr Backward backward = Backward::by("elementwise.exp_backward");
  static double apply(const Arguments& a, double x);
};

struct ExponentialBackward : UnaryContract<ExponentialBackward, CurveBackwardArguments> {
  static constexpr std::string_view name = "elementwise.exp_backward";
  static constexpr std::string_view equation = "dx = dy y";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static double apply(const Arguments&, double y, double dy) { return dy * y; }
};

struct SquareRoot : UnaryContract<SquareRoot, CurveArguments> {
  static constexpr std::string_view name = "elementwise.sqrt";
  static constexpr std::string_view equation = "y = sqrt(x)";
  static constexpr Backward backward = Backward::by("elementwise.sqrt_backward");
  static double apply(const Arguments& a, double x);
};

struct SquareRootBackward : UnaryContract<SquareRootBackward, CurveBackwardArguments> {
  static constexpr std::string_view name = "elementwise.sqrt_backward";
  static constexpr std::string_view equation = "dx = dy / (2 y)";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static double apply(const Arguments&, double y, double dy) { return dy / (2 * y); }
};

template <class Op>
void unary_reference(const typename Op::Arguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& unary_simd();
// Of scale, clamp, exp and sqrt.
template <class Op>
Variant<Op> unary_cuda();

}  // namespace ingot
