// Overlapping windows along the last axis, copied out: what a one-dimensional convolution multiplies.
//
//   y[..., w, k] = x[..., w step + k]        k < length,  w < floor((L - length) / step) + 1
//
// C1  x has rank 1 to 5 and is of a plain type
// C2  1 <= length <= L, the last axis of x; step >= 1
// C3  y has x's type and shape [..., floor((L - length) / step) + 1, length]
// Strides are free. Elements behind the last whole window are not copied.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct StridedWindow {
  static constexpr std::string_view name = "layout.strided_window";
  static constexpr std::string_view equation = "y[..., w, k] = x[..., w step + k]";
  static constexpr Backward backward = Backward::by("layout.strided_window_backward");

  struct Arguments {
    ConstAnyView x;
    std::int64_t length = 1;
    std::int64_t step = 1;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::length, "length"),
                        attribute(&Arguments::step, "step"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<StridedWindow>> variants();
  static void cases(CaseList<StridedWindow>& list);
};

void strided_window_reference(const StridedWindow::Arguments& arguments, Context& context);
extern const SimdEntries<StridedWindow> strided_window_simd;
extern const Variant<StridedWindow> strided_window_cuda;

// Its backward: windows are added up where they overlap.
//
//   dx[..., p] = sum over w, k with w step + k = p of dy[..., w, k]        0 where no window reaches
//
// C1  dx has rank 1 to 5
// C2  1 <= length <= L, the last axis of dx; step >= 1
// C3  dy has shape [..., floor((L - length) / step) + 1, length]
// C4  the last axes of dx and dy are packed
struct StridedWindowBackward {
  static constexpr std::string_view name = "layout.strided_window_backward";
  static constexpr std::string_view equation = "dx[..., p] = sum over w step + k = p of dy[..., w, k]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    std::int64_t length = 1;
    std::int64_t step = 1;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::dy, "dy"), attribute(&Arguments::length, "length"),
                        attribute(&Arguments::step, "step"), output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<StridedWindowBackward>> variants();
  static void cases(CaseList<StridedWindowBackward>& list);
};

void strided_window_backward_reference(const StridedWindowBackward::Arguments& arguments, Context& context);
extern const SimdEntries<StridedWindowBackward> strided_window_backward_simd;

}  // namespace ingot
