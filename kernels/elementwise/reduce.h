// Reductions over the last axis, of D elements, and their gradients:
//
//   sum             y[r] = sum_i x[r,i]            dx[r,i] = dy[r]
//   mean            y[r] = (1/D) sum_i x[r,i]      dx[r,i] = dy[r] / D
//   sum_of_squares  y[r] = sum_i x[r,i]^2          dx[r,i] = 2 x[r,i] dy[r]
//   argmax          indices[r] = the first i with the largest x[r,i]
//   max             y[r] = x[r, argmax]            dx[r,i] = dy[r] where i is the argmax, otherwise 0
//
// NaN counts as larger than every number, so a row that holds one has it as its maximum and the first one's place as
// its argmax. -0 and +0 are equal. Sums run in double in every variant.
//
// C1  x (dx in a backward) has rank 1 to 6, a last axis of 1 to 2^31 - 1 elements, and a packed last axis
// C2  y, indices and dy have x's shape without the last axis, and are contiguous
// C3  x, where a backward takes it, has dx's shape and a packed last axis
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

template <class Op, class OpArguments>
struct ReductionContract {
  using Arguments = OpArguments;

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Op>> variants();
  static void cases(CaseList<Op>& list);
};

struct ReductionArguments {
  View<const float> x;
  View<float> y;

  static constexpr auto fields() {
    return field_list(input(&ReductionArguments::x, "x"), output(&ReductionArguments::y, "y"));
  }
};

struct ReduceSum : ReductionContract<ReduceSum, ReductionArguments> {
  static constexpr std::string_view name = "elementwise.sum";
  static constexpr std::string_view equation = "y[r] = sum_i x[r,i]";
  static constexpr Backward backward = Backward::by("elementwise.sum_backward");
};

struct ReduceMean : ReductionContract<ReduceMean, ReductionArguments> {
  static constexpr std::string_view name = "elementwise.mean";
  static constexpr std::string_view equation = "y[r] = (1/D) sum_i x[r,i]";
  static constexpr Backward backward = Backward::by("elementwise.mean_backward");
};

struct ReduceSumOfSquares : ReductionContract<ReduceSumOfSquares, ReductionArguments> {
  static constexpr std::string_view name = "elementwise.sum_of_squares";
  static constexpr std::string_view equation = "y[r] = sum_i x[r,i]^2";
  static constexpr Backward backward = Backward::by("elementwise.sum_of_squares_backward");
};

struct ReduceMax : ReductionContract<ReduceMax, ReductionArguments> {
  static constexpr std::string_view name = "elementwise.max";
  static constexpr std::string_view equation = "y[r] = x[r, argmax_i x[r,i]]";
  static constexpr Backward backward = Backward::by("elementwise.max_backward");
};

struct ArgmaxArguments {
  View<const float> x;
  View<std::int32_t> indices;

  static constexpr auto fields() {
    return field_list(input(&ArgmaxArguments::x, "x"), output(&ArgmaxArguments::indices, "indices"));
  }
};

struct Argmax : ReductionContract<Argmax, ArgmaxArguments> {
  static constexpr std::string_view name = "elementwise.argmax";
  static constexpr std::string_view equation = "indices[r] = first i with the largest x[r,i]";
  static constexpr Backward backward = Backward::none("an index does not vary continuously");
};

// sum and mean spread dy alone; the others also need to know x.
struct SpreadArguments {
  View<const float> dy;
  View<float> dx;

  static constexpr auto fields() {
    return field_list(input(&SpreadArguments::dy, "dy"), output(&SpreadArguments::dx, "dx"));
  }
};

struct ReductionBackwardArguments {
  View<const float> x;
  View<const float> dy;
  View<float> dx;

  static constexpr auto fields() {
    return field_list(input(&ReductionBackwardArguments::x, "x"), input(&ReductionBackwardArguments::dy, "dy"),
                      output(&ReductionBackwardArguments::dx, "dx"));
  }
};

struct ReduceSumBackward : ReductionContract<ReduceSumBackward, SpreadArguments> {
  static constexpr std::string_view name = "elementwise.sum_backward";
  static constexpr std::string_view equation = "dx[r,i] = dy[r]";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

struct ReduceMeanBackward : ReductionContract<ReduceMeanBackward, SpreadArguments> {
  static constexpr std::string_view name = "elementwise.mean_backward";
  static constexpr std::string_view equation = "dx[r,i] = dy[r] / D";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

struct ReduceSumOfSquaresBackward : ReductionContract<ReduceSumOfSquaresBackward, ReductionBackwardArguments> {
  static constexpr std::string_view name = "elementwise.sum_of_squares_backward";
  static constexpr std::string_view equation = "dx[r,i] = 2 x[r,i] dy[r]";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

struct ReduceMaxBackward : ReductionContract<ReduceMaxBackward, ReductionBackwardArguments> {
  static constexpr std::string_view name = "elementwise.max_backward";
  static constexpr std::string_view equation = "dx[r,i] = dy[r] where i = argmax_i x[r,i], otherwise 0";
  static constexpr Backward backward = Backward::none("first derivatives only");
};

// A long row is reduced in pieces of this many elements, whose results are joined in order: pieces are what threads
// share, and the order is the same for any number of them.
inline constexpr std::int64_t elements_per_piece = 64 << 10;

template <class Op>
void reduce_reference(const typename Op::Arguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& reduce_simd();
template <class Op>
Variant<Op> reduce_cuda();
template <class Op>
void reduce_backward_reference(const typename Op::Arguments& arguments, Context& context);
template <class Op>
const SimdEntries<Op>& reduce_backward_simd();

}  // namespace ingot
