// Copy between any two arrangements of the same elements: packing a strided or broadcast view, spreading a packed one.
//
//   y[i...] = x[i...]
//
// C1  y has x's shape
// C2  y has x's type, which may be any, block formats too; strides are free
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Copy {
  static constexpr std::string_view name = "layout.copy";
  static constexpr std::string_view equation = "y[i...] = x[i...]";
  static constexpr Backward backward = Backward::by("layout.copy_backward");

  struct Arguments {
    ConstAnyView x;
    AnyView y;

    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Copy>> variants();
  static void cases(CaseList<Copy>& list);
};

void copy_reference(const Copy::Arguments& arguments, Context& context);
extern const SimdEntries<Copy> copy_simd;
extern const Variant<Copy> copy_cuda;

// Its backward: dx[i...] = dy[i...]
//
// C1  dx has dy's shape; strides are free
struct CopyBackward {
  static constexpr std::string_view name = "layout.copy_backward";
  static constexpr std::string_view equation = "dx[i...] = dy[i...]";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() { return field_list(input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CopyBackward>> variants();
  static void cases(CaseList<CopyBackward>& list);
};

void copy_backward_reference(const CopyBackward::Arguments& arguments, Context& context);
extern const SimdEntries<CopyBackward> copy_backward_simd;

}  // namespace ingot
