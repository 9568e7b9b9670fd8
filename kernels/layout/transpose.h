// Two axes swapped, into memory of its own.
//
//   y[..., j, ..., i, ...] = x[..., i, ..., j, ...]        i on axis_a of x, j on axis_b
//
// C1  x has rank 1 to 6; axis_a and axis_b are axes of it
// C2  y has x's shape with the two sizes swapped
// C3  y has x's type; in a block format neither axis is the last, for its elements have no addresses
// Strides are free.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Transpose {
  static constexpr std::string_view name = "layout.transpose";
  static constexpr std::string_view equation = "y[..., j, ..., i, ...] = x[..., i, ..., j, ...]";
  static constexpr Backward backward = Backward::by("layout.transpose_backward");

  struct Arguments {
    ConstAnyView x;
    std::int64_t axis_a = 0;
    std::int64_t axis_b = 1;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::axis_a, "axis_a"),
                        attribute(&Arguments::axis_b, "axis_b"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Transpose>> variants();
  static void cases(CaseList<Transpose>& list);
};

void transpose_reference(const Transpose::Arguments& arguments, Context& context);
extern const SimdEntries<Transpose> transpose_simd;
extern const Variant<Transpose> transpose_cuda;

// Its backward: the same swap once more. dx[..., i, ..., j, ...] = dy[..., j, ..., i, ...]
//
// C1  dy has rank 1 to 6; axis_a and axis_b are axes of it
// C2  dx has dy's shape with the two sizes swapped
// Strides are free.
struct TransposeBackward {
  static constexpr std::string_view name = "layout.transpose_backward";
  static constexpr std::string_view equation = "dx[..., i, ..., j, ...] = dy[..., j, ..., i, ...]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    std::int64_t axis_a = 0;
    std::int64_t axis_b = 1;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::dy, "dy"), attribute(&Arguments::axis_a, "axis_a"),
                        attribute(&Arguments::axis_b, "axis_b"), output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<TransposeBackward>> variants();
  static void cases(CaseList<TransposeBackward>& list);
};

void transpose_backward_reference(const TransposeBackward::Arguments& arguments, Context& context);
extern const SimdEntries<TransposeBackward> transpose_backward_simd;

}  // namespace ingot
