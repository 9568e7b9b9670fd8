// Every step-th element of a range along an axis, into memory of its own.
//
//   y[..., i, ...] = x[..., begin + i step, ...]        i < ceil((end - begin) / step), on `axis`
//
// C1  x has rank 1 to 6 and `axis` is one of its axes
// C2  0 <= begin <= end <= the size along `axis`; step >= 1
// C3  y has x's shape with ceil((end - begin) / step) along `axis`
// C4  y has x's type; along the last axis of a block format, begin and end are whole blocks and step is 1
// Strides are free.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Slice {
  static constexpr std::string_view name = "layout.slice";
  static constexpr std::string_view equation = "y[..., i, ...] = x[..., begin + i step, ...]";
  static constexpr Backward backward = Backward::by("layout.slice_backward");

  struct Arguments {
    ConstAnyView x;
    std::int64_t axis = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::axis, "axis"),
                        attribute(&Arguments::begin, "begin"), attribute(&Arguments::end, "end"),
                        attribute(&Arguments::step, "step"), output(&Arguments::y, "y"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Slice>> variants();
  static void cases(CaseList<Slice>& list);
};

void slice_reference(const Slice::Arguments& arguments, Context& context);
extern const SimdEntries<Slice> slice_simd;
extern const Variant<Slice> slice_cuda;

// Its backward: zero but where the slice was taken. dx[..., begin + i step, ...] = dy[..., i, ...], the rest 0
//
// C1  dx has rank 1 to 6 and `axis` is one of its axes
// C2  0 <= begin <= end <= the size along `axis`; step >= 1
// C3  dy has dx's shape with ceil((end - begin) / step) along `axis`
// Strides are free.
struct SliceBackward {
  static constexpr std::string_view name = "layout.slice_backward";
  static constexpr std::string_view equation = "dx[..., begin + i step, ...] = dy[..., i, ...], 0 elsewhere";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    std::int64_t axis = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
    View<float> dx;

    static constexpr auto fields() {
      return field_list(input(&Arguments::dy, "dy"), attribute(&Arguments::axis, "axis"),
                        attribute(&Arguments::begin, "begin"), attribute(&Arguments::end, "end"),
                        attribute(&Arguments::step, "step"), output(&Arguments::dx, "dx"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<SliceBackward>> variants();
  static void cases(CaseList<SliceBackward>& list);
};

void slice_backward_reference(const SliceBackward::Arguments& arguments, Context& context);
extern const SimdEntries<SliceBackward> slice_backward_simd;

}  // namespace ingot
