// Additions that models name: a bias on the last axis, and a residual.
//
//   bias          y[..,i] = x[..,i] + bias[i]      dx = dy, dbias[i] = sum over rows of dy[..,i]
//   residual_add  y = x + residual                 dx = dy, dresidual = dy
//
// They are elementwise.add under the names that templates and gradients use; sums over rows run in double, in row
// order.
//
// C1  x (dy in a backward) has rank 1 to 6
// C2  bias and dbias have shape [D], D the last axis; residual and dresidual have x's shape
// C3  y and dx have x's shape
// C4  all last axes are packed; rows may lie anywhere
// In place: y may be x (or residual); dx may be dy.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

template <class Op, class OpArguments>
struct NamedAddition {
  using Arguments = OpArguments;
  static constexpr std::array in_place = {InPlace{"y", "x"}, InPlace{"y", "residual"}, InPlace{"dx", "dy"}};

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

struct BiasArguments {
  View<const float> x;
  View<const float> bias;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&BiasArguments::x, "x"), weight(&BiasArguments::bias, "bias"),
                      output(&BiasArguments::y, "y"));
  }
};

struct Bias : NamedAddition<Bias, BiasArguments> {
  static constexpr std::string_view name = "elementwise.bias";
  static constexpr std::string_view equation = "y[..,i] = x[..,i] + bias[i]";
  static constexpr Backward backward = Backward::by("elementwise.bias_backward");
};

struct BiasBackwardArguments {
  View<const float> dy;
  View<float> dx;
  View<float> dbias;

  static constexpr auto fields() {
    return field_list(input(&BiasBackwardArguments::dy, "dy"), output(&BiasBackwardArguments::dx, "dx"),
                      output(&BiasBackwardArguments::dbias, "dbias"));
  }
};

struct BiasBackward : NamedAddition<BiasBackward, BiasBackwardArguments> {
  static constexpr std::string_view name = "elementwise.bias_backward";
  static constexpr std::string_view equation = "dx = dy, dbias[i] = sum_r dy[r,i]";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

struct ResidualAddArguments {
  View<const float> x;
  View<const float> residual;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&ResidualAddArguments::x, "x"), input(&ResidualAddArguments::residual, "residual"),
                      output(&ResidualAddArguments::y, "y"));
  }
};

struct ResidualAdd : NamedAddition<ResidualAdd, ResidualAddArguments> {
  static constexpr std::string_view name = "elementwise.residual_add";
  static constexpr std::string_view equation = "y = x + residual";
  static constexpr Backward backward = Backward::by("elementwise.residual_add_backward");
};

struct ResidualAddBackwardArguments {
  View<const float> dy;
  View<float> dx;
  View<float> dresidual;

  static constexpr auto fields() {
    return field_list(input(&ResidualAddBackwardArguments::dy, "dy"), output(&ResidualAddBackwardArguments::dx, "dx"),
                      output(&ResidualAddBackwardArguments::dresidual, "dresidual"));
  }
};

struct ResidualAddBackward : NamedAddition<ResidualAddBackward, ResidualAddBackwardArguments> {
  static constexpr std::string_view name = "elementwise.residual_add_backward";
  static constexpr std::string_view equation = "dx = dy, dresidual = dy";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

}  // namespace ingot
