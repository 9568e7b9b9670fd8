// The same numbers in another plain type.
//
//   y[i...] = convert(x[i...])
//
// Between floats: to nearest, ties to even. From an integer to a float: by way of f32, to nearest. To an integer:
// toward zero, values out of range become the nearest bound, NaN becomes 0.
//
// C1  x and y are of plain types: f32, f16, bf16, i8, u8, i32 or i64
// C2  y has x's shape
// Strides are free.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Cast {
  static constexpr std::string_view name = "layout.cast";
  static constexpr std::string_view equation = "y[i...] = convert(x[i...])";
  static constexpr Backward backward = Backward::by("layout.cast_backward");

  struct Arguments {
    ConstAnyView x;
    AnyView y;

    static constexpr auto fields() { return field_list(input(&Arguments::x, "x"), output(&Arguments::y, "y")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Cast>> variants();
  static void cases(CaseList<Cast>& list);
};

void cast_reference(const Cast::Arguments& arguments, Context& context);
extern const SimdEntries<Cast> cast_simd;
extern const Variant<Cast> cast_cuda;

// Its backward: rounding has the derivative of the identity almost everywhere. dx[i...] = convert(dy[i...])
//
// C1  dy and dx are f32, f16 or bf16: integers carry no gradient
// C2  dx has dy's shape
// Strides are free.
struct CastBackward {
  static constexpr std::string_view name = "layout.cast_backward";
  static constexpr std::string_view equation = "dx[i...] = convert(dy[i...])";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    ConstAnyView dy;
    AnyView dx;

    static constexpr auto fields() { return field_list(input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx")); }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CastBackward>> variants();
  static void cases(CaseList<CastBackward>& list);
};

void cast_backward_reference(const CastBackward::Arguments& arguments, Context& context);
extern const SimdEntries<CastBackward> cast_backward_simd;

}  // namespace ingot
