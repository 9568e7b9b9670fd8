// Gradients of the four arithmetic operations. Where b was repeated, its gradient is the sum over the repetitions:
//
//   add  da = dy        db = sum dy
//   sub  da = dy        db = sum -dy
//   mul  da = dy b      db = sum dy a
//   div  da = dy / b    db = sum -dy a / b^2
//
// Sums run in double over terms in double: every variant agrees to the last rounding unless terms cancel by more than
// nine digits. Addition and subtraction need neither a nor b, so a training plan need not keep them.
//
// C1  dy has rank 1 to 6
// C2  da has dy's shape
// C3  db's shape repeats to dy's, as b's did (see binary.h)
// C4  mul, div: a has dy's shape and b has db's
// C5  all last axes are packed
// In place: da may be dy.
#pragma once

#include "kernels/elementwise/binary.h"

namespace ingot {

struct AdditiveBackwardArguments {
  View<const float> dy;
  View<float> da;
  View<float> db;

  static constexpr auto fields() {
    return field_list(input(&AdditiveBackwardArguments::dy, "dy"), output(&AdditiveBackwardArguments::da, "da"),
                      output(&AdditiveBackwardArguments::db, "db"));
  }
};

struct ProductBackwardArguments {
  View<const float> a;
  View<const float> b;
  View<const float> dy;
  View<float> da;
  View<float> db;

  static constexpr auto fields() {
    return field_list(input(&ProductBackwardArguments::a, "a"), input(&ProductBackwardArguments::b, "b"),
                      input(&ProductBackwardArguments::dy, "dy"), output(&ProductBackwardArguments::da, "da"),
                      output(&ProductBackwardArguments::db, "db"));
  }
};

template <class Op, class OpArguments>
struct BinaryBackwardContract {
  using Arguments = OpArguments;
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"da", "dy"}};

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

struct AddBackward : BinaryBackwardContract<AddBackward, AdditiveBackwardArguments> {
  static constexpr std::string_view name = "elementwise.add_backward";
  static constexpr std::string_view equation = "da = dy, db = sum dy";
  static double da(double dy, double, double) { return dy; }
  static double db(double dy, double, double) { return dy; }
};

struct SubtractBackward : BinaryBackwardContract<SubtractBackward, AdditiveBackwardArguments> {
  static constexpr std::string_view name = "elementwise.sub_backward";
  static constexpr std::string_view equation = "da = dy, db = sum -dy";
  static double da(double dy, double, double) { return dy; }
  static double db(double dy, double, double) { return -dy; }
};

struct MultiplyBackward : BinaryBackwardContract<MultiplyBackward, ProductBackwardArguments> {
  static constexpr std::string_view name = "elementwise.mul_backward";
  static constexpr std::string_view equation = "da = dy b, db = sum dy a";
  static double da(double dy, double, double b) { return dy * b; }
  static double db(double dy, double a, double) { return dy * a; }
};

struct DivideBackward : BinaryBackwardContract<DivideBackward, ProductBackwardArguments> {
  static constexpr std::string_view name = "elementwise.div_backward";
  static constexpr std::string_view equation = "da = dy / b, db = sum -dy a / b^2";
  static double da(double dy, double, double b) { return dy / b; }
  static double db(double dy, double a, double b) { return -(dy * a) / (b * b); }
};

template <class Op>
void binary_backward_reference(const typename Op::Arguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& binary_backward_simd();

}  // namespace ingot
