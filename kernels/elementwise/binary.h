// The four arithmetic operations of two tensors, the second repeated along axes where it has size 1 or none:
//
//   y[i] = a[i] o b[i'],   o one of + - x /,   i' = i with 0 on b's axes of size 1
//
// Each result is the exact one rounded once, so all variants agree bit for bit.
//
// C1  a has rank 1 to 6
// C2  b's shape, aligned with a's at the last axis, has a's size or 1 on each of its axes; it may have fewer axes
// C3  y has a's shape
// C4  the last axes of a, b and y are packed; rows may lie anywhere
// In place: y may be a, or b where it has a's shape.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct BinaryArguments {
  View<const float> a;
  View<const float> b;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&BinaryArguments::a, "a"), input(&BinaryArguments::b, "b"),
                      output(&BinaryArguments::y, "y"));
  }
};

template <class Op>
struct BinaryContract {
  using Arguments = BinaryArguments;
  static constexpr std::array in_place = {InPlace{"y", "a"}, InPlace{"y", "b"}};

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

struct Add : BinaryContract<Add> {
  static constexpr std::string_view name = "elementwise.add";
  static constexpr std::string_view equation = "y = a + b";
  static constexpr Backward backward = Backward::by("elementwise.add_backward");
  static double apply(double a, double b) { return a + b; }
};

struct Subtract : BinaryContract<Subtract> {
  static constexpr std::string_view name = "elementwise.sub";
  static constexpr std::string_view equation = "y = a - b";
  static constexpr Backward backward = Backward::by("elementwise.sub_backward");
  static double apply(double a, double b) { return a - b; }
};

struct Multiply : BinaryContract<Multiply> {
  static constexpr std::string_view name = "elementwise.mul";
  static constexpr std::string_view equation = "y = a b";
  static constexpr Backward backward = Backward::by("elementwise.mul_backward");
  static double apply(double a, double b) { return a * b; }
};

struct Divide : BinaryContract<Divide> {
  static constexpr std::string_view name = "elementwise.div";
  static constexpr std::string_view equation = "y = a / b";
  static constexpr Backward backward = Backward::by("elementwise.div_backward");
  static double apply(double a, double b) { return a / b; }
};

// Op: one of the four above; bias and residual addition are additions under other names, and use these too.
template <class Op>
void binary_reference(const BinaryArguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& binary_simd();
template <class Op>
Variant<Op> binary_cuda();

}  // namespace ingot
