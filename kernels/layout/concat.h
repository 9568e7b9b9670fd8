// Two to four tensors laid one behind the other along an axis.
//
//   y = [a | b | c | d] along `axis`
//
// C1  a has rank 1 to 6 and `axis` is one of its axes
// C2  b, c and d, where given, have a's type and, but for the size along `axis`, a's shape
// C3  y has a's type and a's shape with the sum of the sizes along `axis`
// Strides are free; types may be any, block formats too (whole blocks follow from C0).
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct Concat {
  static constexpr std::string_view name = "layout.concat";
  static constexpr std::string_view equation = "y = [a | b | c | d] along axis";
  static constexpr Backward backward = Backward::by("layout.concat_backward");

  struct Arguments {
    ConstAnyView a, b, c, d;
    std::int64_t axis = 0;
    AnyView y;

    static constexpr auto fields() {
      return field_list(input(&Arguments::a, "a"), optional_input(&Arguments::b, "b"),
                        optional_input(&Arguments::c, "c"), optional_input(&Arguments::d, "d"),
                        attribute(&Arguments::axis, "axis"), output(&Arguments::y, "y"));
    }
    std::array<ConstAnyView, 4> parts() const { return {a, b, c, d}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Concat>> variants();
  static void cases(CaseList<Concat>& list);
};

void concat_reference(const Concat::Arguments& arguments, Context& context);
extern const SimdEntries<Concat> concat_simd;
extern const Variant<Concat> concat_cuda;

// Its backward: each part gets its share of dy back. [da | db | dc | dd] = dy along `axis`
//
// C1  dy has rank 1 to 6 and `axis` is one of its axes
// C2  da, and db, dc and dd where given, have, but for the size along `axis`, dy's shape
// C3  their sizes along `axis` add up to dy's
// Strides are free.
struct ConcatBackward {
  static constexpr std::string_view name = "layout.concat_backward";
  static constexpr std::string_view equation = "[da | db | dc | dd] = dy along axis";
  static constexpr Backward backward = Backward::none("first derivatives only");

  struct Arguments {
    View<const float> dy;
    std::int64_t axis = 0;
    View<float> da, db, dc, dd;

    static constexpr auto fields() {
      return field_list(input(&Arguments::dy, "dy"), attribute(&Arguments::axis, "axis"), output(&Arguments::da, "da"),
                        optional_output(&Arguments::db, "db"), optional_output(&Arguments::dc, "dc"),
                        optional_output(&Arguments::dd, "dd"));
    }
    std::array<View<float>, 4> parts() const { return {da, db, dc, dd}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<ConcatBackward>> variants();
  static void cases(CaseList<ConcatBackward>& list);
};

void concat_backward_reference(const ConcatBackward::Arguments& arguments, Context& context);
extern const SimdEntries<ConcatBackward> concat_backward_simd;

// Calls visit(part, where it begins along the axis) for each part that is there.
template <class Parts, class Visit>
void for_each_part(const Parts& parts, std::int64_t axis, Visit&& visit) {
  std::int64_t begin = 0;
  for (const auto& part : parts) {
    if (!is_present(part)) continue;
    visit(part, begin);
    begin += part.size(static_cast<int>(axis));
  }
}

}  // namespace ingot
