// The logarithm of the softmax over the last axis.
//
//   y[r,j] = x[r,j] - log sum_k e^x[r,k]
//
// A row of -infinity stays -infinity (the logarithm of weights that are all zero).
//
// C1  x has rank 1 to 6
// C2  y has x's shape
// C3  the last axes of x and y are packed; rows may lie anywhere
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct LogSoftmax {
  static constexpr std::string_view name = "attention.log_softmax";
  static constexpr std::string_view equation = "y[r,j] = x[r,j] - log sum_k e^x[r,k]";
  static constexpr Backward backward = Backward::by("attention.log_softmax_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments {
    View<const float> x;
    View<float> y;

    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LogSoftmax>> variants();
  static void cases(CaseList<LogSoftmax>& list);
};

void log_softmax_reference(const LogSoftmax::Arguments& arguments, Context& context);
extern const Variant<LogSoftmax> log_softmax_cuda;
extern const SimdEntries<LogSoftmax> log_softmax_simd;

// Its backward:
//
//   dx[r,j] = dy[r,j] - e^y[r,j] sum_k dy[r,k]
//
// C1  y has rank 1 to 6
// C2  dy and dx have y's shape
// C3  the last axes of y, dy and dx are packed
// In place: dx may be dy.
struct LogSoftmaxBackward {
  static constexpr std::string_view name = "attention.log_softmax_backward";
  static constexpr std::string_view equation = "dx[r,j] = dy[r,j] - e^y[r,j] sum_k dy[r,k]";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments {
    View<const float> y;
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::y, "y"), input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<LogSoftmaxBackward>> variants();
  static void cases(CaseList<LogSoftmaxBackward>& list);
};

void log_softmax_backward_reference(const LogSoftmaxBackward::Arguments& arguments, Context& context);
extern const SimdEntries<LogSoftmaxBackward> log_softmax_backward_simd;

}  // namespace ingot
